import { stampedItem } from './markdown-item.ts';
import type { SourceEntries } from './entry.ts';

/** An item of a list that is an event, while its lines come in. */
interface OpenItem {
  /** Where its marker stands; what stands further right belongs to it. */
  column: number;
  /** Where its text begins. */
  textColumn: number;
  at: string;
  lines: string[];
}

/** Lines of which nothing is read until one that ends them: code, and what comments hide. */
interface Block {
  /** Whose text they are, if any item's. */
  item: OpenItem | undefined;
  isEnd: (content: string) => boolean;
}

const MARKER = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;

/**
 * The items of all lists that start with a timestamp. An item's body is the rest of its line and whatever belongs to it below:
 * lines that are indented further than its marker, and a paragraph's lines that follow without a gap. An item inside another
 * is an event of its own when it starts with a timestamp, else a part of the other's body. Texts stay Markdown.
 *
 * Read by lines, in time proportional to the text: what is wanted of Markdown here is little, and the documents are strangers'.
 */
export function markdownEntries(text: string): SourceEntries {
  const items: OpenItem[] = [];
  /** From the outermost to the innermost that the line at hand may belong to. */
  const open: OpenItem[] = [];
  let block: Block | undefined;
  /** The line before was text of the innermost item. */
  let inParagraph = false;
  /** Empty lines since the last that was not; they are whose the next line is. */
  let gap = 0;
  const add = (item: OpenItem, line: string) => {
    if (gap > 0) item.lines.push('\n'.repeat(gap - 1));
    gap = 0;
    item.lines.push(outdent(line, item.textColumn));
  };

  for (const line of text.split(/\r\n|\n|\r/)) {
    const content = line.trimStart();
    if (content === '') {
      gap += 1;
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
    const innermost = open.at(-1);
    if (inParagraph && innermost !== undefined && marker === undefined && !beginsBlock(content)) {
      add(innermost, line);
      continue;
    }
    while ((open.at(-1)?.column ?? -1) >= column) open.pop();
    const stamped = marker === undefined ? undefined : stampedItem(content.slice(marker.length));
    if (marker !== undefined && stamped !== undefined) {
      const textColumn = columnOf(line, indent + marker.length);
      const item = { column, textColumn, at: stamped.at, lines: [stamped.text] };
      items.push(item);
      open.push(item);
      inParagraph = stamped.text !== '';
      gap = 0;
      continue;
    }
    const item = open.at(-1);
    if (item === undefined) gap = 0;
    else add(item, line);
    block = blockOf(content, item);
    inParagraph = item !== undefined && block === undefined && !beginsBlock(content);
  }
  if (items.length === 0) {
    return { reason: 'The Markdown document has no list item that starts with a timestamp like 2026-11-20T10:00:00Z' };
  }
  return { entries: items.map(({ at, lines }) => ({ at, body: lines.join('\n').trim() })) };
}

const TAB = 4;

/** How far right the text after so many characters begins. */
function columnOf(line: string, length: number): number {
  let column = 0;
  for (let index = 0; index < length; index += 1) column += line[index] === '\t' ? TAB - (column % TAB) : 1;
  return column;
}

/** The line without what only indents it, up to a column. */
function outdent(line: string, column: number): string {
  let index = 0;
  for (let at = 0; at < column && /[ \t]/.test(line[index] ?? ''); index += 1) {
    at += line[index] === '\t' ? TAB - (at % TAB) : 1;
  }
  return line.slice(index);
}

/** A line that a paragraph does not run on into. */
const beginsBlock = (content: string) =>
  /^(?:#{1,6}(?:\s|$)|>|`{3}|~{3}|<!--)/.test(content) ||
  /^(?:-{3,}|\*{3,}|_{3,})$/.test(content.replaceAll(/\s/g, ''));

function blockOf(content: string, item: OpenItem | undefined): Block | undefined {
  const fence = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(content)?.[0];
  if (fence !== undefined) {
    return { item, isEnd: (line) => line.startsWith(fence) && isMadeOf(line.trimEnd(), fence.charAt(0)) };
  }
  const isEnd = (line: string) => line.includes('-->');
  return content.startsWith('<!--') && !isEnd(content) ? { item, isEnd } : undefined;
}

const isMadeOf = (text: string, character: string) => text === character.repeat(text.length);
