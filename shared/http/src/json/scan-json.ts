import { DomainError } from '../errors/errors.ts';
import { isExactNumber } from './exact-number.ts';

/**
 * What the values and names of a document may have as complexity: a unit takes JSON.parse about 0.1 microseconds. A name
 * costs most, because the engine keeps a table of all names, and one of every set of names that an object has.
 */
export const MAX_COMPLEXITY = 150_000;
const SCALAR = 1;
const CONTAINER = 3;
const TEXT = 4;
/** In addition to its text. */
const NAME = 6;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const KINDS = { other: 0, digit: 1, letter: 2, open: 3, close: 4, colon: 5 } as const;

/** What each byte means outside of texts. Names that are not JSON count as literals: the parser stops at them. */
const kindOf = new Uint8Array(256);
const setKind = (characters: string, kind: number) => {
  for (const byte of Buffer.from(characters)) kindOf[byte] = kind;
};
setKind('-0123456789.+', KINDS.digit);
setKind('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', KINDS.letter);
setKind('[{', KINDS.open);
setKind(']}', KINDS.close);
setKind(':', KINDS.colon);

/** A number of so many bytes without an exponent has so few digits that it is exact. */
const MAX_EXACT_BYTES = 15;

/** What parsing may lose. Only valid JSON has a meaningful one. */
export interface JsonScan {
  /** The property names of all objects; the parsed document has fewer if an object has one twice. */
  names: number;
  /** Whether parsing changes the value of a number. */
  isInexact: boolean;
  complexity: number;
}

/** What a limit of documents counts. */
export interface DocumentSize {
  bytes: number;
  complexity: number;
}

/** Returns the size of a part of a document, by the rule for documents: that of its names is without its own. */
export function sizeOfJson(json: string): DocumentSize {
  const bytes = Buffer.from(json);
  return { bytes: bytes.length, complexity: scanJson(bytes, Infinity).complexity };
}

/**
 * Reads a document before it is parsed, in one pass over its bytes, which need not be valid JSON. Parsing a megabyte of
 * names that all differ would block the process for a tenth of a second.
 * @throws DomainError `invalid_request` naming the document's property at which its complexity exceeds `maximum`
 */
export function scanJson(bytes: Buffer, maximum = MAX_COMPLEXITY): JsonScan {
  let complexity = 0;
  let names = 0;
  let isInexact = false;
  let depth = 0;
  /** The latest text of the outermost object, and the latest one that was a name. */
  let text: readonly [start: number, end: number] = [0, 0];
  let name = text;
  let index = 0;
  while (index < bytes.length && complexity <= maximum) {
    const byte = bytes[index] as number;
    const start = index;
    index += 1;
    if (byte === QUOTE) {
      index = endOfText(bytes, index);
      complexity += TEXT;
      if (depth === 1) text = [start, index];
      continue;
    }
    switch (kindOf[byte]) {
      case KINDS.digit: {
        while (kindOf[bytes[index] as number] === KINDS.digit) index += 1;
        const hasExponent = kindOf[bytes[index] as number] === KINDS.letter;
        if (hasExponent) index = endOfScalar(bytes, index);
        if (hasExponent || index - start > MAX_EXACT_BYTES) {
          isInexact ||= !isExactNumber(bytes.toString('latin1', start, index));
        }
        complexity += SCALAR;
        break;
      }
      case KINDS.letter:
        index = endOfScalar(bytes, index);
        complexity += SCALAR;
        break;
      case KINDS.open:
        complexity += CONTAINER;
        depth += 1;
        break;
      case KINDS.close:
        depth -= 1;
        // What follows the document is not parsed.
        if (depth <= 0) index = bytes.length;
        break;
      case KINDS.colon:
        complexity += NAME;
        names += 1;
        if (depth === 1) name = text;
        break;
      default:
    }
  }
  if (complexity > maximum) throw tooComplex(bytes.subarray(...name), maximum);
  return { names, isInexact, complexity };
}

function endOfScalar(bytes: Uint8Array, start: number): number {
  let index = start;
  for (let kind = kindOf[bytes[index] as number]; kind === KINDS.digit || kind === KINDS.letter;) {
    index += 1;
    kind = kindOf[bytes[index] as number];
  }
  return index;
}

/** The index after the text that began before `start`. */
function endOfText(bytes: Uint8Array, start: number): number {
  let index = start;
  while (index < bytes.length && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
  return index + 1;
}

function tooComplex(name: Uint8Array, maximum: number): DomainError {
  return new DomainError(
    'invalid_request',
    'Must have fewer values: in one document, a number, true, false or null counts 1, an array or object 3, a text 4, ' +
      `a property name 10, and all together at most ${maximum}`,
    { field: readName(name) },
  );
}

/** Returns `undefined` for a document that is not an object, or a name that is not valid JSON. */
function readName(bytes: Uint8Array): string | undefined {
  try {
    const name: unknown = JSON.parse(Buffer.from(bytes).toString());
    return typeof name === 'string' ? printable(name) : undefined;
  } catch {
    return undefined;
  }
}

/** A property name as an error may contain it. */
export const printable = (name: string) => name.replaceAll('\0', '\uFFFD').toWellFormed();
