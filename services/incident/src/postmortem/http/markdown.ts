import { type Block, blocksOf, type Inline, inlinesOf, isWebAddress, LINE_BREAK } from '@tocsin/schemas/markdown';

// Stored texts in Markdown, as CommonMark and GitHub's tables, strikethrough and bare links read it. What a reader sees is
// the text, without the white space around its lines, and with the names of controls that would change its direction.

/** Every character that begins markup within a line, and what makes a bare link of an address. */
const MARKUP = /[\\`*_[\]~|@#$]|:(?=\/)|(?<=www)\.|(?<=\])\(/gi;

/**
 * What GitHub and GitLab take for a person, an issue or another thing of theirs, after they have read the Markdown: a
 * character that is not seen parts it (U+2060).
 */
const REFERENCE = /[@#!&%~$^](?=[\p{L}\p{N}_"])|\bGH-(?=\d)/giu;
const PARTED = '$&\u2060';

const showControls = (text: string): string =>
  text.replaceAll(
    /\p{Bidi_Control}/gu,
    (control) => `[U+${control.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}]`,
  );

const escapeMarkup = (text: string): string =>
  showControls(text)
    .replaceAll(REFERENCE, PARTED)
    .replaceAll(MARKUP, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

/** What begins a block of another kind: a list, a heading under the line, a line across, the second row of a table; a command. */
const escapeStart = (line: string): string => line.replace(/^[-+=:/]/, '\\$&').replace(/^(\d+)([.)])/, '$1\\$2');

const linesOf = (text: string): string[] => text.split(LINE_BREAK).map((line) => line.trim());

/** A text in one line, behind other text. */
export const inline = (text: string): string => escapeMarkup(text.trim().replaceAll(/\s+/g, ' '));

/** A text in one line that begins a block. */
export const lineOf = (text: string): string => escapeStart(inline(text));

/** A text in paragraphs with its lines. */
export const paragraphs = (text: string): string => paragraphsOf(linesOf(escapeMarkup(text)).map(escapeStart));

const paragraphsOf = (lines: readonly string[]): string =>
  lines
    .join('\n')
    .trim()
    .replaceAll(/(?<=[^\n])\n(?=[^\n])/g, '\\\n')
    .replaceAll(/\n{2,}/g, '\n\n');

/** A text in the cell of a table, with its lines. */
const cell = (text: string): string => linesOf(escapeMarkup(text.trim())).join('<br>');

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A row of a table of texts. */
const row = (texts: readonly string[]): string => rowOf(texts.map(cell));

/** A table of such rows. */
const tableOf = (header: readonly string[], rows: readonly string[]): string =>
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
    href.slice(0, path).replaceAll(/[\\`|<>()]/g, percentEncode),
    href.slice(path).replaceAll(/[\\`|<>()[\]]/g, percentEncode),
  ];
  return `[${inline(text) || inline(url)}](<${target.join('').replaceAll('&', '&amp;')}>)`;
}

/** How far the headings of notes are below those of the document. */
const LOWERED = 2;

/** How texts in blocks are written: what is no markup in a line, and headings by their levels. */
interface Style {
  text: (text: string) => string;
  level: (level: number) => number;
}

const OF_NOTES: Style = { text: escapeMarkup, level: (level) => Math.min(6, level + LOWERED) };

/** A note as the Markdown that it is, in blocks, with nothing in it that the console does not show (contract: Post-mortems). */
export const note = (text: string): string[] => blocksOf(text).map((block) => blockOf(block, OF_NOTES));

/** Makes live parts of placeholders: in a line, or as a block of its own. Undefined: it is none there, but text. */
export interface LiveParts {
  inLine: (placeholder: string) => string | undefined;
  block: (placeholder: string) => string | undefined;
}

const PLACEHOLDERS = /(\{\{[^{}]*\}\})/;
const nameIn = (placeholder: string) => placeholder.slice(2, -2);

/** A text in a line with its placeholders, of which nothing else becomes markup. */
export const textWithParts = (text: string, { inLine }: LiveParts): string =>
  text
    .split(PLACEHOLDERS)
    .map((part, index) => (index % 2 === 1 ? inLine(nameIn(part)) : undefined) ?? escapeMarkup(part))
    .join('');

/** A section that somebody has written, as a note, with live parts. Its headings stay below that of the section. */
export function sectionBody({ title, body }: { title: string; body: string }, parts: LiveParts): string {
  const style: Style = {
    text: (text) => textWithParts(text, parts),
    level: (level) => (title === '' ? level : Math.max(LOWERED + 1, level)),
  };
  return blocksOf(body)
    .flatMap((block) => (block.kind === 'text' ? textBlocks(block, parts, style) : blockOf(block, style)))
    .join('\n\n');
}

/** A paragraph, which lines that are a live part each divide. */
function textBlocks({ lines, ...block }: Block, { block: partOf }: LiveParts, style: Style): string[] {
  const blocks: string[] = [];
  let open: string[] = [];
  const end = () => {
    if (open.length > 0) blocks.push(blockOf({ ...block, lines: open }, style));
    open = [];
  };
  for (const line of lines) {
    const part = /^\s*\{\{[^{}]*\}\}\s*$/.test(line) ? partOf(nameIn(line.trim())) : undefined;
    if (part === undefined) open.push(line);
    else {
      end();
      blocks.push(part);
    }
  }
  end();
  return blocks;
}

function blockOf({ kind, level, lines }: Block, style: Style): string {
  if (kind === 'code') return fenced(lines);
  const shown = lines.map((line) =>
    escapeStart(
      inlinesOf(line)
        .map((part) => partOf(part, style))
        .join('')
        .trim(),
    ),
  );
  if (kind === 'bullets') return list(shown);
  if (kind === 'numbers') return shown.map((line, index) => `${index + 1}. ${line}`).join('\n');
  if (kind === 'quote') return paragraphsOf(shown).replaceAll(/^/gm, '> ');
  if (kind === 'heading') return `${'#'.repeat(style.level(level))} ${shown.join('')}`;
  return paragraphsOf(shown);
}

function partOf(part: Inline, style: Style): string {
  if (part.kind === 'text') return style.text(part.text);
  if (part.kind === 'code') return `\`${showControls(part.text)}\``;
  if (part.kind === 'link') return link(part.text, part.url);
  const mark = part.kind === 'strong' ? '**' : '*';
  return `${mark}${part.children.map((child) => partOf(child, style)).join('')}${mark}`;
}

/** Lines between fences that are longer than any in them. */
function fenced(lines: readonly string[]): string {
  const text = showControls(lines.join('\n'));
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [fence, text, fence].join('\n');
}

/** An item of a list that has several blocks. */
export const item = (blocks: readonly string[]): string => blocks.join('\n\n').replaceAll(/\n(?=[^\n])/g, '\n  ');
