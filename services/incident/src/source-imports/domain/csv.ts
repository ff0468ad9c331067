import { CsvError, type InfoRecord, parse } from 'csv-parse/sync';
import type { ParsedEntries, SourceEntry } from './entry.ts';
import { readHeader, type ReadRow } from './table.ts';
import type { WrittenDate } from './written-time.ts';

const NO_HEADER =
  'The CSV document needs a header row that names the columns at and body, or a column with times (Time, Timestamp, Date)';
/** Commas first: a document that they separate never has another meaning. */
const DELIMITERS = [',', ';', '\t'];

const OPTIONS = {
  record_delimiter: ['\r\n', '\n', '\r'],
  // A quotation mark in an unquoted cell is an ordinary character.
  relax_quotes: true,
  relax_column_count: true,
  skip_empty_lines: true,
  // The size of the whole document is limited; a cell that is too long makes only its event invalid.
  max_record_size: 0,
};

/** Parses a table whose header row names the columns, in any order and case; ignores unknown columns beside a body. */
export function parseCsv(text: string): ParsedEntries {
  const entries: SourceEntry[] = [];
  let date: WrittenDate | undefined;
  try {
    const header = findHeader(text);
    if (header === undefined) return { reason: NO_HEADER };
    const { delimiter, read } = header;
    if (typeof read === 'string') return { reason: `The CSV document ${read}` };
    const readRow = (row: string[], { lines, records }: InfoRecord) => {
      const entry = records === 1 ? undefined : read(row, { date, zone: undefined });
      if (entry !== undefined && 'date' in entry) ({ date } = entry);
      // Lines are counted up to the end of the row.
      else if (entry !== undefined) entries.push({ ...entry, number: lines - countLineEnds(row) });
      return null;
    };
    parse(text, { ...OPTIONS, delimiter, on_record: readRow });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { reason: 'The document is not valid CSV: a quotation mark is not closed' };
  }
  if (entries.length === 0) return { reason: 'The CSV document has no rows below its header' };
  return { entries };
}

/** The first delimiter with which the first row is a header. */
function findHeader(text: string): { delimiter: string; read: ReadRow | string } | undefined {
  for (const delimiter of DELIMITERS) {
    const [cells = []] = parse(text, { ...OPTIONS, delimiter, to: 1 });
    const read = readHeader(cells);
    if (read !== undefined) return { delimiter, read };
  }
  return undefined;
}

const countLineEnds = (row: readonly string[]) => row.join('').match(/\r\n|\n|\r/g)?.length ?? 0;
