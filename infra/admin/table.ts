import stringWidth from 'string-width';

export type Row = Record<string, unknown>;

/** The name of a property, or a title with what stands under it. */
export type Column = string | readonly [title: string, cell: (row: Row) => unknown];

/** Formats rows as a table with aligned columns. Widths are those on a terminal, where some characters take two. */
export function formatTable(rows: readonly Row[], columns: readonly Column[]): string[] {
  const titles = columns.map((column) => (typeof column === 'string' ? column : column[0]).toUpperCase());
  const values = rows.map((row) =>
    columns.map((column) => (typeof column === 'string' ? row[column] : column[1](row))),
  );
  const cells = values.map((line) => line.map(formatCell));
  const isNumeric = columns.map((_, index) => values.every((line) => isNumberOrMissing(line[index])));
  const widths = titles.map((title, index) =>
    cells.reduce((width, line) => Math.max(width, stringWidth(line[index] ?? '')), stringWidth(title)),
  );
  return [titles, ...cells].map((line) =>
    line
      .map((cell, index) => {
        const padding = ' '.repeat((widths[index] ?? 0) - stringWidth(cell));
        return isNumeric[index] === true ? padding + cell : cell + padding;
      })
      .join('  ')
      .trimEnd(),
  );
}

const isNumberOrMissing = (value: unknown) => typeof value === 'number' || value === null || value === undefined;

function formatCell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(formatCell).join(',');
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Replaces characters that would control the terminal or the direction of the text by their codes. */
export const visible = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
