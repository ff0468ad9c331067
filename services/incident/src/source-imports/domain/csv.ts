import { CsvError, parse } from 'csv-parse/sync';
import { type ParsedEntries, type SourceEntry, normaliseTimeSeparator } from './entry.ts';

const COLUMNS = ['at', 'title', 'body', 'type', 'tags'] as const;
type Column = (typeof COLUMNS)[number];

const NO_HEADER = 'The CSV document needs a header row that names the columns at and body';

/** Parses a table whose header row names the columns, in any order and case; ignores unknown columns. */
export function parseCsv(text: string): ParsedEntries {
  let header: ReadonlyMap<Column, number> | string | undefined;
  let width = 0;
  const entries: SourceEntry[] = [];
  const readRow = (row: readonly string[]) => {
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
      // A quotation mark in an unquoted cell is an ordinary character.
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      // The size of the whole document is limited; a cell that is too long makes only its event invalid.
      max_record_size: 0,
      on_record: readRow,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { reason: 'The document is not valid CSV: a quotation mark is not closed' };
  }
  if (header === undefined || typeof header === 'string') return { reason: header ?? NO_HEADER };
  if (entries.length === 0) return { reason: 'The CSV document has no rows below its header' };
  return { entries };
}

/** Returns the index of each known column, or what is wrong with the header. */
function readHeader(row: readonly string[]): ReadonlyMap<Column, number> | string {
  const names = row.map((cell) => cell.trim().toLowerCase());
  const indexes = new Map<Column, number>();
  for (const column of COLUMNS) {
    const index = names.indexOf(column);
    if (index === -1) continue;
    if (names.includes(column, index + 1)) return `The CSV document has two columns named ${column}`;
    indexes.set(column, index);
  }
  return indexes.has('at') && indexes.has('body') ? indexes : NO_HEADER;
}

function entryOf(row: readonly string[], header: ReadonlyMap<Column, number>, width: number): SourceEntry {
  // An unquoted comma has probably split a text: reject the event instead of truncating it.
  if (row.slice(width).some((extra) => extra.trim() !== '')) return { violation: 'it has more cells than the header' };
  const cell = (column: Column) => row[header.get(column) ?? -1] ?? '';
  return {
    at: normaliseTimeSeparator(cell('at').trim()),
    title: cell('title'),
    body: cell('body'),
    type: cell('type'),
    tags: cell('tags').split(/[;,]/),
  };
}
