import { parseTimestampedItem } from './markdown-item.ts';
import type { ParsedEntries } from './entry.ts';

/** A list item that is an event, while its lines are read. */
interface ListItem {
  /** The column of its marker; lines that are indented further belong to it. */
  column: number;
  /** The column where its text begins. */
  textColumn: number;
  at: string;
  lines: string[];
}

/** Lines without markup until an end line: fenced code and comments. */
interface Block {
  /** The item that contains them, if any. */
  item: ListItem | undefined;
  isEnd: (content: string) => boolean;
}

const MARKER = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;

/**
 * Parses all list items that start with a timestamp. An item's body is the rest of its line and the lines below that belong to
 * it: lines that are indented further than its marker, and lines that continue its paragraph. A nested item is its own event if
 * it starts with a timestamp, else a part of the outer item's body. Texts stay Markdown.
 *
 * It reads line by line, in linear time: it needs little of Markdown, and the documents are untrusted.
 */
export function parseMarkdown(text: string): ParsedEntries {
  const items: ListItem[] = [];
  /** The items that the current line may belong to, from the outermost to the innermost. */
  const openItems: ListItem[] = [];
  let block: Block | undefined;
  /** Whether the previous line was text of the innermost item. */
  let inParagraph = false;
  /** Empty lines since the last other line; they belong to the item of the next line. */
  let blankLines = 0;
  const add = (item: ListItem, line: string) => {
    if (blankLines > 0) item.lines.push('\n'.repeat(blankLines - 1));
    blankLines = 0;
    item.lines.push(outdent(line, item.textColumn));
  };

  for (const line of text.split(/\r\n|\n|\r/)) {
    const content = line.trimStart();
    if (content === '') {
      blankLines += 1;
      inParagraph = false;
      continue;
    }
    const indent = line.length - content.length;
    const column = columnOf(line, indent);
    if (block !== undefined && (block.item === undefined || column > block.item.column)) {
      if (block.item !== undefined) add(block.item, line);
      if (block.isEnd(content)) block = undefined;
      continue;
    }
    block = undefined;

    const marker = MARKER.exec(content)?.[0];
    const innermost = openItems.at(-1);
    if (inParagraph && innermost !== undefined && marker === undefined && !startsBlock(content)) {
      add(innermost, line);
      continue;
    }
    while ((openItems.at(-1)?.column ?? -1) >= column) openItems.pop();
    const stamped = marker === undefined ? undefined : parseTimestampedItem(content.slice(marker.length));
    if (marker !== undefined && stamped !== undefined) {
      const textColumn = columnOf(line, indent + marker.length);
      const item = { column, textColumn, at: stamped.at, lines: [stamped.text] };
      items.push(item);
      openItems.push(item);
      inParagraph = stamped.text !== '';
      blankLines = 0;
      continue;
    }
    const item = openItems.at(-1);
    if (item === undefined) blankLines = 0;
    else add(item, line);
    block = blockOf(content, item);
    inParagraph = item !== undefined && block === undefined && !startsBlock(content);
  }
  if (items.length === 0) {
    return { reason: 'The Markdown document has no list item that starts with a timestamp like 2026-11-20T10:00:00Z' };
  }
  return { entries: items.map(({ at, lines }) => ({ at, body: lines.join('\n').trim() })) };
}

const TAB_WIDTH = 4;

/** Returns the column after the first `length` characters of a line. */
function columnOf(line: string, length: number): number {
  let column = 0;
  for (let index = 0; index < length; index += 1) column += line[index] === '\t' ? TAB_WIDTH - (column % TAB_WIDTH) : 1;
  return column;
}

/** Removes the indentation of a line up to a column. */
function outdent(line: string, column: number): string {
  let index = 0;
  for (let at = 0; at < column && /[ \t]/.test(line[index] ?? ''); index += 1) {
    at += line[index] === '\t' ? TAB_WIDTH - (at % TAB_WIDTH) : 1;
  }
  return line.slice(index);
}

/** Whether a line ends the paragraph before it. */
const startsBlock = (content: string) =>
  /^(?:#{1,6}(?:\s|$)|>|`{3}|~{3}|<!--)/.test(content) ||
  /^(?:-{3,}|\*{3,}|_{3,})$/.test(content.replaceAll(/\s/g, ''));

function blockOf(content: string, item: ListItem | undefined): Block | undefined {
  const fence = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(content)?.[0];
  if (fence !== undefined) {
    return { item, isEnd: (line) => line.startsWith(fence) && isMadeOf(line.trimEnd(), fence.charAt(0)) };
  }
  const isEnd = (line: string) => line.includes('-->');
  return content.startsWith('<!--') && !isEnd(content) ? { item, isEnd } : undefined;
}

const isMadeOf = (text: string, character: string) => text === character.repeat(text.length);
