import { styleText } from 'node:util';
import { visible, visibleLines } from './visible.ts';

/** How a command prints. */
export interface OutputOptions {
  /** JSON, also on a terminal. */
  json?: boolean | undefined;
  /** Only IDs. */
  quiet?: boolean | undefined;
}

export type Row = Readonly<Record<string, unknown>>;

/** What a command writes. */
export interface Output {
  /** Whether rows are shown as a table. */
  readonly isTable: boolean;
  /** Rows of a list; call it for each page, and then `end`. */
  rows(rows: readonly Row[], columns: readonly string[] | undefined): void;
  end(): void;
  /** A whole response. @param item its property that is the resource */
  reply(body: unknown, item: string | undefined): void;
  line(text: string): void;
  /** To stderr: what is not the result. */
  note(text: string): void;
}

export interface Streams {
  stdout: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  stderr: { write(text: string): unknown; isTTY?: boolean };
}

export function createOutput({ stdout, stderr }: Streams, { json = false, quiet = false }: OutputOptions): Output {
  const isTable = stdout.isTTY === true && !json && !quiet;
  // Whatever reads a pipe gets the data as they are.
  const print = (text: string) => void stdout.write(stdout.isTTY === true ? visibleLines(text) : text);
  const line = (text: string) => print(`${text}\n`);
  /** A line with styles, whose texts are visible. */
  const styledLine = (text: string) => void stdout.write(`${text}\n`);
  let count = 0;
  let widths: readonly number[] | undefined;
  return {
    isTable,
    line,
    note: (text) => void stderr.write(`${visibleLines(text)}\n`),
    rows: (rows, columns = columnsOf(rows[0] ?? {})) => {
      if (quiet) for (const row of rows) line(idOf(row));
      else if (!isTable) {
        for (const row of rows) {
          print(`${count === 0 ? '[' : ','}\n${JSON.stringify(row)}`);
          count += 1;
        }
      } else if (rows.length > 0) {
        const cells = rows.map((row) => columns.map((name) => cell(row[name])));
        const titles = columns.map((name) => visible(name).toUpperCase());
        if (widths === undefined) {
          widths = widthsOf([titles, ...cells], stdout.columns ?? 120);
          styledLine(styleText('bold', format(titles, widths)));
        }
        for (const row of cells) line(format(row, widths));
      }
    },
    end: () => {
      if (!isTable && !quiet) stdout.write(count === 0 ? '[]\n' : '\n]\n');
      widths = undefined;
    },
    reply: (body, item) => {
      const resource = (item === undefined ? undefined : (body as Row | undefined)?.[item]) ?? firstObject(body);
      if (quiet) {
        const id = idOf(resource as Row);
        if (id !== '') line(id);
      } else if (!isTable) {
        if (body !== undefined) line(JSON.stringify(body, undefined, 2));
      } else
        for (const [name, value] of Object.entries(resource as Row))
          if (!isEmpty(value)) styledLine(`${styleText('bold', visible(name))}: ${cell(value)}`);
    },
  };
}

/** Of a response without a versioned resource: its first property, if that is an object. */
function firstObject(body: unknown): Row {
  const object = (body ?? {}) as Row;
  const [first] = Object.values(object);
  return typeof first === 'object' && first !== null && !Array.isArray(first) ? (first as Row) : object;
}

const idOf = (row: Row): string => {
  const id = row['id'] ?? row['key'] ?? row['user_id'];
  return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
};

/** The first properties that fit into a cell. */
const columnsOf = (row: Row) =>
  Object.keys(row)
    .filter((name) => typeof row[name] !== 'object')
    .slice(0, 6);

const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z$/;

/** Empty values are a dash, and times are to the minute, in UTC. */
function cell(value: unknown): string {
  if (isEmpty(value)) return '-';
  return visible(typeof value === 'string' ? value.replace(TIMESTAMP, '$1 $2Z') : JSON.stringify(value));
}

/** The last column gets what is left of the line; no other one takes more than a third of it. */
function widthsOf(lines: readonly (readonly string[])[], columns: number): number[] {
  const widths = (lines[0] ?? []).map((_, index) =>
    lines.reduce((width, line) => Math.max(width, widthOf(line[index] ?? '')), 0),
  );
  const limited = widths.map((width) => Math.min(width, Math.max(40, columns / 3)));
  const others = limited.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  return limited.with(-1, Math.min(widths.at(-1) ?? 0, Math.max(20, columns - others)));
}

/** What takes two columns of a terminal. */
const WIDE = /\p{RGI_Emoji}|[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303e\uff01-\uff60]/gv;

/** On a terminal, in columns. */
const widthOf = (text: string): number => [...text.replaceAll(WIDE, '##').replaceAll(/\p{M}/gu, '')].length;

const format = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((text, index) => {
      const width = widths[index] ?? 0;
      const characters = [...text];
      if (widthOf(text) > width) {
        while (widthOf(characters.join('')) >= width) characters.pop();
        characters.push('…');
      }
      const shown = characters.join('');
      return shown + ' '.repeat(Math.max(0, width - widthOf(shown)));
    })
    .join('  ')
    .trimEnd();
