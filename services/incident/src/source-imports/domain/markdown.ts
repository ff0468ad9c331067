import { readContextLine, timeContext } from './time-context.ts';
import { type ParsedEntries, type SourceEntry, toParsedTime } from './entry.ts';
import { htmlText, readHtmlTable, readHeader, type ReadRow } from './table.ts';
import { parseTimestampedItem, type TimestampedItem } from './markdown-item.ts';
import { readDate } from './written-time.ts';

/** An event, while the lines of its body are read. */
interface Item {
  /** The column of a list item's marker; lines that are indented further belong to it: all below a heading, none below text. */
  column: number;
  /** The column where its text begins. */
  textColumn: number;
  isListItem: boolean;
  entry: SourceEntry;
  lines: string[];
}

/** Lines without markup until an end line: fenced code and comments. */
interface Block {
  /** The item that contains them, if any. */
  item: Item | undefined;
  isEnd: (content: string) => boolean;
}

const MARKER = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;
const HEADING_COLUMN = -1;
const TEXT_COLUMN = Infinity;

const NO_EVENT =
  'The Markdown document has no list item that starts with a timestamp like 2026-11-20T10:00:00Z, and no other entry with a date and a time';

/**
 * Parses the lines that start with a time: list items, headings, lines of text, and the rows of tables with a column for it
 * (contract: Timeline imports). The body of a list item is the rest of its line and the lines below that belong to it: lines
 * that are indented further than its marker, and lines that continue its paragraph. A nested item is its own event if it starts
 * with a time, else a part of the outer item's body. Texts stay Markdown.
 *
 * It reads line by line, in linear time: it needs little of Markdown, and the documents are untrusted.
 */
// Each line may end what the lines before it began, so what the steps share is nearly all that they have.
// oxlint-disable-next-line eslint/max-lines-per-function
export function parseMarkdown(text: string): ParsedEntries {
  const lines = text.split(/\r\n|\n|\r/);
  const items: Item[] = [];
  /** The items that the current line may belong to, from the outermost to the innermost. */
  const openItems: Item[] = [];
  const context = timeContext();
  const list = siblings(items);
  let block: Block | undefined;
  /** Whether the previous line was text of the innermost item. */
  let inParagraph = false;
  /** Whether the previous line was text outside of items. */
  let inProse = false;
  /** The previous line, which is a heading if the next one underlines it. */
  let headline: string | undefined;
  /** Empty lines since the last other line; they belong to the item of the next line. */
  let blankLines = 0;
  let table: ReadRow | undefined;
  /** Up to here there is no HTML table to look for. */
  let nextTable = 0;
  const add = (item: Item, line: string) => {
    if (blankLines > 0) item.lines.push('\n'.repeat(blankLines - 1));
    blankLines = 0;
    item.lines.push(outdent(line, item.textColumn));
  };
  const addRow = (read: ReadRow, cells: readonly string[], number: number) => {
    const row = read(cells, context.current());
    if (row !== undefined && 'date' in row) context.setDate(row.date);
    else if (row !== undefined) items.push({ ...NO_ITEM, entry: context.place({ ...row, number }), lines: [] });
  };

  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const number = index + 1;
    const content = line.trimStart();
    const [isProse, above] = [inProse, headline];
    inProse = false;
    headline = undefined;
    if (content === '') {
      blankLines += 1;
      inParagraph = false;
      table = undefined;
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
    const startsEntry = innermost?.isListItem === false && parseTimestampedItem(content) !== undefined;
    const isText = marker === undefined && !startsBlock(content);
    const isDateLine =
      isText && openItems.every(({ entry }) => entry.at === undefined) && readContextLine(content)?.date !== undefined;
    const continues = inParagraph && innermost !== undefined && isText;
    if (continues && !(startsEntry && innermost.column !== HEADING_COLUMN) && !isDateLine) {
      add(innermost, line);
      continue;
    }
    while ((openItems.at(-1)?.column ?? HEADING_COLUMN) >= column) openItems.pop();
    const heading = openItems.at(-1) === undefined || isBelowHeading(openItems) ? headingOf(content) : undefined;
    if (heading !== undefined || (isDateLine && isBelowHeading(openItems))) openItems.pop();
    const item = openItems.at(-1);
    const isOutside = item === undefined || item.column === HEADING_COLUMN;

    if (isOutside && marker === undefined && heading === undefined) {
      // The line below it makes a line of text a heading.
      const underline = above === undefined ? null : /^(?:(=)=*|-+)\s*$/.exec(content);
      if (above !== undefined && underline !== null) {
        context.heading(underline[1] === undefined ? 2 : 1, above, number - 1);
        list.end();
        continue;
      }
      if (table !== undefined && isText && content.includes('|')) {
        addRow(table, cellsOf(content), number);
        continue;
      }
      const read =
        isText && content.includes('|') && isDelimiterRow(lines[index + 1]) ? readHeader(cellsOf(content)) : undefined;
      if (typeof read === 'function') {
        table = read;
        list.end();
        openItems.length = 0;
        index += 1;
        continue;
      }
      if (index >= nextTable && /^<table\b/i.test(content)) {
        const end = lines.findIndex((each, at) => at >= index && /<\/table\s{0,3}>/i.test(each));
        nextTable = end === -1 ? lines.length : end + 1;
        const rawLines = lines.slice(index, nextTable);
        const [first, ...rows] = readHtmlTable(rawLines.join('\n'));
        const readHtml = readHeader(first?.cells ?? []);
        if (typeof readHtml === 'function' && end !== -1 && !rawLines.some(isOldMarkup)) {
          for (const row of rows) addRow(readHtml, row.cells, number + row.line);
          list.end();
          openItems.length = 0;
          index = nextTable - 1;
          continue;
        }
      }
    }
    table = undefined;

    if (heading !== undefined) {
      context.heading(heading.level, heading.text, number);
      list.end();
    } else if (isOutside && isDateLine) {
      context.line(content, number);
      list.end();
      headline = content.trimEnd();
      continue;
    }
    const start = heading?.text ?? (marker === undefined ? content : content.slice(marker.length));
    const mayStart = marker !== undefined || heading !== undefined || (isOutside && !isProse && isText);
    const stamped = mayStart ? parseTimestampedItem(start) : undefined;
    // Other times below a timestamp are its text, as they were before they were read.
    if (stamped !== undefined && (stamped.isTimestamp || openItems.every(({ entry }) => entry.at === undefined))) {
      const isListItem = marker !== undefined;
      const textColumn = isListItem ? columnOf(line, indent + marker.length) : heading === undefined ? column : 0;
      const parsed = timeOf(stamped, context);
      const entry = context.place({ ...parsed, number });
      const newItem = {
        column: heading === undefined ? (isListItem ? column : TEXT_COLUMN) : HEADING_COLUMN,
        textColumn,
        isListItem,
        entry,
        lines: [stamped.text],
      };
      if (!isListItem && isOutside) openItems.length = 0;
      items.push(newItem);
      openItems.push(newItem);
      if (isListItem && isOutside) list.add(undefined);
      else if (!isListItem) list.end();
      inParagraph = stamped.text !== '' && heading === undefined;
      blankLines = 0;
      continue;
    }
    if (isOutside && marker !== undefined) {
      if (readContextLine(start)?.date !== undefined) {
        context.line(start, number);
        continue;
      }
      const violation = readDate(start) === undefined ? 'it does not start with a time' : 'it has a date and no time';
      list.add({ number, violation });
    } else if (isOutside && column === 0 && heading === undefined) list.end();
    if (item === undefined) blankLines = 0;
    else add(item, line);
    if (isOutside) context.prose(content);
    block = blockOf(content, item);
    inParagraph = item !== undefined && block === undefined && !startsBlock(content);
    inProse = isOutside && block === undefined && isText;
    if (inProse) headline = content.trimEnd();
  }
  list.end();
  if (items.length === 0) return { reason: NO_EVENT };
  const entries = items.map(({ entry, lines: body }) =>
    'body' in entry || entry.violation !== undefined ? entry : { ...entry, body: body.join('\n').trim() },
  );
  return { entries: context.complete(entries) };
}

const NO_ITEM = { column: HEADING_COLUMN, textColumn: 0, isListItem: false };

const isBelowHeading = (openItems: readonly Item[]) => openItems.at(-1)?.column === HEADING_COLUMN;

const timeOf = ({ at, written }: TimestampedItem, context: ReturnType<typeof timeContext>) =>
  at === undefined ? toParsedTime('', written, context.current()) : { at: at.replace(/^(\d{4}-\d\d-\d\d) /, '$1T') };

/** Whether a line is an event, or begins code or a comment, that was read when tables were not. */
function isOldMarkup(line: string): boolean {
  const content = line.trimStart();
  if (blockOf(content, undefined) !== undefined) return true;
  const marker = MARKER.exec(content)?.[0];
  return marker !== undefined && parseTimestampedItem(content.slice(marker.length))?.isTimestamp === true;
}

/** Reports the items of a list in which others are events. */
function siblings(items: Item[]) {
  let others: SourceEntry[] = [];
  let hasEvent = false;
  return {
    add: (other: SourceEntry | undefined) => {
      if (other === undefined) hasEvent = true;
      else others.push(other);
    },
    end: () => {
      if (hasEvent) for (const entry of others) items.push({ ...NO_ITEM, entry, lines: [] });
      [others, hasEvent] = [[], false];
    },
  };
}

/** A heading of Markdown, or of HTML on one line. */
function headingOf(content: string): { level: number; text: string } | undefined {
  const [, marks, text = ''] = /^(#{1,6})(?:\s(.*))?$/.exec(content) ?? [];
  if (marks !== undefined) return { level: marks.length, text: text.replace(/\s#+\s*$/, '').trim() };
  const [, level, html = ''] = /^<h([1-6])\b[^<>]*>(.*)<\/h\1>\s*$/i.exec(content) ?? [];
  return level === undefined ? undefined : { level: Number(level), text: htmlText(html) };
}

const cellsOf = (row: string): string[] =>
  row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

const isDelimiterRow = (line = ''): boolean =>
  line.includes('-') && line.includes('|') && cellsOf(line).every((cell) => /^:?-+:?$/.test(cell));

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

function blockOf(content: string, item: Item | undefined): Block | undefined {
  const fence = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(content)?.[0];
  if (fence !== undefined) {
    return { item, isEnd: (line) => line.startsWith(fence) && isMadeOf(line.trimEnd(), fence.charAt(0)) };
  }
  const isEnd = (line: string) => line.includes('-->');
  return content.startsWith('<!--') && !isEnd(content) ? { item, isEnd } : undefined;
}

const isMadeOf = (text: string, character: string) => text === character.repeat(text.length);
