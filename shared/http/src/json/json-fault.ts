const codeOf = (character: string) => character.charCodeAt(0);
const LINE_FEED = codeOf('\n');

/** Why a text is not one JSON document: it is several, or it is malformed at an index (of UTF-16 code units). */
export type JsonFault = { kind: 'several' } | { kind: 'malformed'; index: number };

/** A place in a text, counted from 1; columns in Unicode characters. */
export interface Place {
  line: number;
  column: number;
}

/** After so many documents it does not matter whether the rest is one. */
const MAX_DOCUMENTS = 1_000;

/** Finds out in one pass why JSON.parse has rejected a text: its own messages do not always say where. */
export function findJsonFault(text: string): JsonFault {
  const first = endOfDocument(text, 0);
  if (first < 0) return { kind: 'malformed', index: ~first };
  const next = skipSpace(text, first);
  let index = next;
  for (let documents = 1; index < text.length && documents < MAX_DOCUMENTS; documents += 1) {
    const end = endOfDocument(text, index);
    // Not a second document, but something that must not follow the first one.
    if (end < 0) return { kind: 'malformed', index: next };
    index = skipSpace(text, end);
  }
  return index > next ? { kind: 'several' } : { kind: 'malformed', index };
}

/** The place after a text in UTF-8. A line ends with a line feed. */
export function placeAfter(bytes: Uint8Array): Place {
  let line = 1;
  let column = 1;
  // eslint-disable-next-line @typescript-eslint/prefer-for-of -- the iterator of an array of bytes takes three times as long
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    if (byte === LINE_FEED) {
      line += 1;
      column = 1;
    } else if (!isContinuation(byte)) column += 1;
  }
  return { line, column };
}

/** Whether it continues a character that an earlier byte began. */
const isContinuation = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000;

const COMMA = codeOf(',');
const COLON = codeOf(':');
const QUOTE = codeOf('"');
const BACKSLASH = codeOf('\\');
const [OPEN_OBJECT, CLOSE_OBJECT] = [codeOf('{'), codeOf('}')];
const [OPEN_ARRAY, CLOSE_ARRAY] = [codeOf('['), codeOf(']')];

// The functions below return the index after what they read, or the complement (`~`, which is negative) of the index of
// a fault.

/** Not recursive, because a text can be nested a million levels deep. */
function endOfDocument(text: string, start: number): number {
  const closers: number[] = [];
  let expected: 'first member' | 'member' | 'separator' = 'member';
  let index = start;
  for (;;) {
    index = skipSpace(text, index);
    const closer = closers.at(-1);
    if (expected !== 'member' && text.charCodeAt(index) === closer) {
      closers.pop();
      index += 1;
      expected = 'separator';
    } else if (expected === 'separator') {
      if (text.charCodeAt(index) !== COMMA) return ~index;
      index += 1;
      expected = 'member';
      continue;
    } else {
      if (closer === CLOSE_OBJECT) index = endOfName(text, index);
      if (index < 0) return index;
      const code = text.charCodeAt(index);
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        closers.push(code === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY);
        index += 1;
        expected = 'first member';
        continue;
      }
      index = endOfScalar(text, index);
      if (index < 0) return index;
      expected = 'separator';
    }
    if (closers.length === 0) return index;
  }
}

/** Reads a name, its colon and the white space up to the value. */
function endOfName(text: string, start: number): number {
  const end = text.charCodeAt(start) === QUOTE ? endOfText(text, start) : ~start;
  if (end < 0) return end;
  const colon = skipSpace(text, end);
  return text.charCodeAt(colon) === COLON ? skipSpace(text, colon + 1) : ~colon;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** As much of a number as is well-formed so far. */
const NUMBER_PREFIX = /-?(?:(?:0|[1-9]\d*)(?:\.(?!\d)|(?:\.\d+)?(?:[eE][+-]?\d*)?))?/y;
/** What may follow a number or a literal, besides the end. */
const DELIMITER = /[\s"{}[\],:]/;

function endOfScalar(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return endOfText(text, start);
  const literal = ['true', 'false', 'null'].find((word) => text.charAt(start) === word.charAt(0));
  const end = literal === undefined ? endOfMatch(NUMBER, text, start) : endOfLiteral(literal, text, start);
  if (end === text.length || DELIMITER.test(text.charAt(end))) return end;
  return literal === undefined ? ~endOfMatch(NUMBER_PREFIX, text, start) : end < 0 ? end : ~end;
}

function endOfMatch(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : ~start;
}

function endOfLiteral(literal: string, text: string, start: number): number {
  for (let offset = 0; offset < literal.length; offset += 1) {
    if (text.charCodeAt(start + offset) !== literal.charCodeAt(offset)) return ~Math.min(start + offset, text.length);
  }
  return start + literal.length;
}

/** The characters of a text up to its end, an escape or a fault. */
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
/** As much of an escape as is well-formed so far. */
const ESCAPE_PREFIX = /\\(?:u[\da-fA-F]{0,3})?/y;
export function endOfText(text: string, start: number): number {
  let index = start + 1;
  for (;;) {
    index = endOfMatch(PLAIN, text, index);
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index + 1;
    if (code !== BACKSLASH) return ~index;
    const next = endOfMatch(ESCAPE, text, index);
    if (next < 0) return ~endOfMatch(ESCAPE_PREFIX, text, index);
    index = next;
  }
}

const SPACE = /[ \n\r\t]*/y;
const LAST_SPACE = codeOf(' ');

export const skipSpace = (text: string, start: number): number =>
  // Mostly there is none, and a pattern takes longer to find that out.
  text.charCodeAt(start) > LAST_SPACE ? start : endOfMatch(SPACE, text, start);
