import { DomainError } from './errors.ts';

/**
 * What the values and names of a document may weigh together: a unit takes JSON.parse about 0.1 microseconds. A name
 * costs most, because the engine keeps a table of all names, and one of every set of names that an object has.
 */
export const MAX_WEIGHT = 150_000;
const SCALAR = 1;
const CONTAINER = 3;
const TEXT = 4;
/** In addition to its text. */
const NAME = 6;
/** Per byte, no document weighs more: a container may have one byte, a text has two, a name and its value five. */
const MOST_PER_BYTE = CONTAINER;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const KINDS = { other: 0, scalar: 1, open: 2, close: 3, colon: 4 } as const;

/** What each byte means outside of texts. Bytes of names that are not JSON are scalars: the parser stops at them. */
const kindOf = new Uint8Array(256);
const setKind = (characters: string, kind: number) => {
  for (const byte of Buffer.from(characters)) kindOf[byte] = kind;
};
setKind('-0123456789.+ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', KINDS.scalar);
setKind('[{', KINDS.open);
setKind(']}', KINDS.close);
setKind(':', KINDS.colon);

/**
 * Weighs a document before it is parsed, in one pass over its bytes, which need not be valid JSON. Parsing a megabyte of
 * names that all differ would block the process for a tenth of a second.
 * @throws DomainError `invalid_request` naming the document's property at which it weighs too much
 */
export function checkWeight(bytes: Uint8Array, maximum = MAX_WEIGHT): void {
  if (bytes.length * MOST_PER_BYTE <= maximum) return;
  let weight = 0;
  let depth = 0;
  /** The latest text of the outermost object, and the latest one that was a name. */
  let text: readonly [start: number, end: number] = [0, 0];
  let name = text;
  let index = 0;
  while (index < bytes.length && weight <= maximum) {
    const byte = bytes[index] as number;
    const start = index;
    index += 1;
    if (byte === QUOTE) {
      index = endOfText(bytes, index);
      weight += TEXT;
      if (depth === 1) text = [start, index];
      continue;
    }
    switch (kindOf[byte]) {
      case KINDS.scalar:
        while (kindOf[bytes[index] as number] === KINDS.scalar) index += 1;
        weight += SCALAR;
        break;
      case KINDS.open:
        weight += CONTAINER;
        depth += 1;
        break;
      case KINDS.close:
        depth -= 1;
        // What follows the document is not parsed.
        if (depth <= 0) return;
        break;
      case KINDS.colon:
        weight += NAME;
        if (depth === 1) name = text;
        break;
      default:
    }
  }
  if (weight > maximum) throw tooHeavy(bytes.subarray(...name), maximum);
}

/** The index after the text that began before `start`. */
function endOfText(bytes: Uint8Array, start: number): number {
  let index = start;
  while (index < bytes.length && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
  return index + 1;
}

function tooHeavy(name: Uint8Array, maximum: number): DomainError {
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
