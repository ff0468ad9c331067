import { isWebAddress } from '../../incidents/domain/property-kinds.ts';

// Stored texts in Markdown, as CommonMark and GitHub's tables, strikethrough and bare links read it. What a reader sees is
// the text, without the white space around its lines.

/** Every character that begins markup within a line, and what makes a bare link of an address. */
const MARKUP = /[\\`*_[\]~|@#$]|:(?=\/)|(?<=www)\.|(?<=\])\(/gi;

const escapeMarkup = (text: string): string =>
  text.replaceAll(MARKUP, '\\$&').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** What begins a block of another kind: a list, a heading under the line, a line across, the second row of a table. */
const escapeStart = (line: string): string => line.replace(/^[-+=:]/, '\\$&').replace(/^(\d+)([.)])/, '$1\\$2');

/** Some readers take every line break of Unicode for the end of a row. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

const linesOf = (text: string): string[] => text.split(LINE_BREAK).map((line) => line.trim());

/** A text in one line, behind other text. */
export const inline = (text: string): string => escapeMarkup(text.trim().replaceAll(/\s+/g, ' '));

/** A text in one line that begins a block. */
export const lineOf = (text: string): string => escapeStart(inline(text));

/** A text in paragraphs with its lines. */
export const paragraphs = (text: string): string =>
  linesOf(escapeMarkup(text))
    .map(escapeStart)
    .join('\n')
    .trim()
    .replaceAll(/(?<=[^\n])\n(?=[^\n])/g, '\\\n')
    .replaceAll(/\n{2,}/g, '\n\n');

/** A text in the cell of a table, with its lines. */
export const cell = (text: string): string => linesOf(escapeMarkup(text.trim())).join('<br>');

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A row of a table of texts. */
export const row = (texts: readonly string[]): string => rowOf(texts.map(cell));

/** A table of such rows. */
export const tableOf = (header: readonly string[], rows: readonly string[]): string =>
  [rowOf(header), rowOf(header.map(() => '---')), ...rows].join('\n');

export const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  tableOf(header, rows.map(row));

/** A list of items that are Markdown. */
export const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');

const percentEncode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** A link to an address of the web; another address is shown as text. */
export function link(text: string, url: string): string {
  if (!isWebAddress(url)) return lineOf(`${text}: ${url}`);
  const { href } = new URL(url);
  // Brackets before the path are those of an IPv6 address.
  const path = href.indexOf('/', href.indexOf('//') + 2);
  const target = [
    href.slice(0, path).replaceAll(/[\\`|<>]/g, percentEncode),
    href.slice(path).replaceAll(/[\\`|<>()[\]]/g, percentEncode),
  ];
  return `[${inline(text) || inline(url)}](<${target.join('').replaceAll('&', '&amp;')}>)`;
}
