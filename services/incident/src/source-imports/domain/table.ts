import { ownProperty } from '@tocsin/runtime';
import { type ParsedTime, type SourceEntry, toParsedTime } from './entry.ts';
import { readDate, readTime, readZone, type WrittenDate, type Zone } from './written-time.ts';

const NAMED = ['at', 'title', 'body', 'type', 'tags'] as const;
type Named = (typeof NAMED)[number];

/** Names of columns with times, and with dates, without other characters than letters. */
const TIME = new Set(
  'time,timestamp,at,when,datetime,date time,date and time,start,start time,started at,occurred at'.split(','),
);
const DATE = new Set(['date', 'day']);

/** What is known of the times of a table from outside of it. */
interface TableContext {
  date: WrittenDate | undefined;
  zone: Zone | undefined;
}

/** Reads the cells of a row: the entry, or the date of the rows below it, or nothing if they are blank. */
export type ReadRow = (
  cells: readonly string[],
  context: TableContext,
) => SourceEntry | { date: WrittenDate } | undefined;

/**
 * Finds the columns of a table by its header row: a column with times, perhaps one with dates, and `body`, `title`, `type` and
 * `tags`. Without a column `body`, the other columns are the body, with their names if they are several.
 * @returns the reader of its rows, or why they are no events; `undefined`: it has no column with times
 */
export function readHeader(header: readonly string[]): ReadRow | string | undefined {
  const names = header.map((cell) => cell.trim().toLowerCase());
  const repeated = NAMED.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  const columns = header.map(columnOf);
  const dateColumn = columns.findIndex(({ name }) => DATE.has(name));
  const named = names.includes('at') ? names.indexOf('at') : columns.findIndex(({ name }) => TIME.has(name));
  const timeColumn = named === -1 ? dateColumn : named;
  if (timeColumn === -1) return undefined;
  if (repeated !== undefined && names.includes('body')) return `has two columns named ${repeated}`;
  const others = columns.length - new Set([timeColumn, dateColumn].filter((index) => index !== -1)).size;
  const zone = columns[timeColumn]?.zone;
  const indexes = Object.fromEntries(NAMED.map((name) => [name, names.indexOf(name)])) as Record<Named, number>;

  // It takes time in proportion to the row, because a header may be much longer.
  return (row, context) => {
    if (row.every((cell) => cell.trim() === '')) return undefined;
    // An unquoted separator has probably split a text: reject the event instead of truncating it.
    if (row.slice(header.length).some((extra) => extra.trim() !== '')) {
      return { violation: 'it has more cells than the header' };
    }
    const time = row[timeColumn] ?? '';
    if (row.every((cell, index) => index === timeColumn || cell.trim() === '')) {
      const onlyDate = readDate(unmarked(time));
      if (onlyDate?.length === unmarked(time).length) return { date: onlyDate.date };
    }
    const dateText = dateColumn === -1 || dateColumn === timeColumn ? undefined : unmarked(row[dateColumn] ?? '');
    const parsed = readCell(time, {
      date: dateText === undefined ? context.date : dateIn(dateText),
      zone: zone ?? context.zone,
    });
    const cell = (name: Named) => row[indexes[name]] ?? '';
    if (indexes.body !== -1) {
      return {
        ...parsed,
        title: cell('title'),
        body: cell('body'),
        type: cell('type'),
        tags: cell('tags').split(/[;,]/),
      };
    }
    const lines = row.flatMap((text, index) => {
      if (index === timeColumn || index === dateColumn || text.trim() === '') return [];
      return others === 1 ? [text] : [`${header[index]?.trim() ?? ''}: ${text.trim()}`];
    });
    return { ...parsed, body: lines.join('\n') };
  };
}

/** Without the markup around a cell. */
const unmarked = (cell: string) =>
  cell
    .trim()
    .replaceAll(/^[*_`]{1,4}|[*_`]{1,4}$/g, '')
    .trim();

function columnOf(cell: string): { name: string; zone: Zone | undefined } {
  const words = unmarked(cell).match(/[A-Za-z][\w/+:-]*/g) ?? [];
  const zones = words.map((word) => (TIME.has(word.toLowerCase()) ? undefined : readZone(word)));
  const zone = zones.find((each) => each !== undefined);
  const name = words
    .filter((_, index) => zones[index] === undefined)
    .join(' ')
    .replaceAll(/[^A-Za-z]+/g, ' ')
    .toLowerCase();
  return { name: name === '' && zone !== undefined ? 'time' : name, zone };
}

function dateIn(text: string): WrittenDate {
  const read = readDate(text);
  return read === undefined || read.length < text.length ? { violation: 'its date cannot be read' } : read.date;
}

function readCell(cell: string, context: TableContext): ParsedTime {
  const text = unmarked(cell);
  if (text === '') return { violation: 'it has no time' };
  const written = readTime(text);
  const parsed = toParsedTime(text, written, context);
  return written !== undefined && written.length < text.length && !('at' in parsed)
    ? { violation: 'its time cannot be read' }
    : parsed;
}

/** A row of an HTML table. */
interface HtmlRow {
  cells: readonly string[];
  /** The line within the text where it begins, from 0. */
  line: number;
}

/** Reads the rows of an HTML table as far as they have cells; their texts lose their markup. Takes linear time. */
export function readHtmlTable(html: string): HtmlRow[] {
  let line = 0;
  return html.split(/<tr\b/i).flatMap((part, index) => {
    const start = line;
    line += countLines(part);
    if (index === 0) return [];
    const [, ...cells] = part.split(/<t[dh]\b/i);
    return [{ cells: cells.map((cell) => htmlText(cell.slice(cell.indexOf('>') + 1))), line: start }];
  });
}

const countLines = (text: string) => text.split('\n').length - 1;

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** The text of a piece of HTML. */
export const htmlText = (html: string): string =>
  html
    .replaceAll(/<br\s{0,3}\/?>/gi, '\n')
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll(/&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#x([\da-f]{1,6}));/gi, (entity, name, decimal, hex) => {
      if (name !== undefined) return ownProperty(ENTITIES, String(name).toLowerCase()) ?? entity;
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
      return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity;
    })
    .trim();
