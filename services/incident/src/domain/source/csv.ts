import { CsvError, parse } from 'csv-parse/sync';
import { type SourceEntries, type SourceEntry, withT } from './entry.ts';

const COLUMNS = ['at', 'title', 'body', 'type', 'tags'] as const;
type Column = (typeof COLUMNS)[number];

const NO_HEADER = 'The CSV document needs a header row that names the columns at and body';

/** A table with a header row that names the columns, in any order and case; others than ours are left alone. */
export function csvEntries(text: string): SourceEntries {
  let header: ReadonlyMap<Column, number> | string | undefined;
  let width = 0;
  const entries: SourceEntry[] = [];
  const take = (row: readonly string[]) => {
    if (header === undefined) {
      header = readHeader(row);
      width = row.length;
    } else if (typeof header !== 'string' && row.some((cell) => cell.trim() !== '')) {
      entries.push(entryOf(row, header, width));
    }
    return null;
  };
  try {
    parse(text, {
      record_delimiter: ['\r\n', '\n', '\r'],
      // A quotation mark within a cell that does not begin with one is a character like any other.
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      // The document as a whole is limited; a cell that is too long makes its own event invalid.
      max_record_size: 0,
      on_record: take,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { reason: 'The document is not valid CSV: a quotation mark is opened and never closed' };
  }
  if (header === undefined || typeof header === 'string') return { reason: header ?? NO_HEADER };
  if (entries.length === 0) return { reason: 'The CSV document has no rows below its header' };
  return { entries };
}

/** Where each of our columns is, or what the header lacks. */
function readHeader(row: readonly string[]): ReadonlyMap<Column, number> | string {
  const names = row.map((cell) => cell.trim().toLowerCase());
  const places = new Map<Column, number>();
  for (const column of COLUMNS) {
    const place = names.indexOf(column);
    if (place === -1) continue;
    if (names.includes(column, place + 1)) return `The CSV document has two columns named ${column}`;
    places.set(column, place);
  }
  return places.has('at') && places.has('body') ? places : NO_HEADER;
}

function entryOf(row: readonly string[], header: ReadonlyMap<Column, number>, width: number): SourceEntry {
  // A comma that was not quoted has torn a text apart: better no event than half of one.
  if (row.slice(width).some((extra) => extra.trim() !== '')) return { fault: 'it has more cells than the header' };
  const cell = (column: Column) => row[header.get(column) ?? -1] ?? '';
  return {
    at: withT(cell('at').trim()),
    title: cell('title'),
    body: cell('body'),
    type: cell('type'),
    tags: cell('tags').split(/[;,]/),
  };
}
