/**
 * `json` reads and writes bodies. This file takes bytes that must be one JSON document with values that can be stored
 * as they are written (contract: Requests). `scan-json.ts` bounds the number of values and names before anything is
 * parsed, in one pass. Then the document is parsed; if that fails, `json-fault.ts` finds the place that the error
 * names. `find-loss.ts` finds what parsing does not keep, numbers that it rounds and names that an object has twice,
 * and `checkStorable` values that cannot be stored, or that are nested too deeply. Where the items of a document are
 * requests by themselves, a fault of one becomes its own, and refuses no other. `json-rows.ts` serialises each row of a
 * list once.
 */
import { isUtf8 } from 'node:buffer';
import { ownProperty } from '@tocsin/runtime';
import { DomainError, invalidRequest } from '../errors/errors.ts';
import { findLosses, type Loss } from './find-loss.ts';
import { findJsonFault, type Place, placeAfter } from './json-fault.ts';
import { printable, scanJson } from './scan-json.ts';

/** Deeper than any real value, and shallow enough for recursive functions. */
const MAX_DEPTH = 100;

/** What some editors and shells write at the start of a file. */
const BYTE_ORDER_MARK = '\uFEFF';
const UTF_16_MARKS = [Buffer.of(0xff, 0xfe), Buffer.of(0xfe, 0xff)];

/** What a document may have besides its bytes; see `scanJson` and `checkStorable`, which have the defaults. */
export interface DocumentLimits {
  complexity: number;
  depth: number;
  /** The property whose items are requests by themselves, up to so many. */
  items: { of: string; max: number };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses bytes that must contain exactly one JSON document, whose values can be stored as written.
 * @throws DomainError `multiple_json_values` for two or more documents; `invalid_json` with line and column for anything
 *   else that is not JSON; `invalid_request` for too many values, and with the path of a value that `checkStorable`
 *   rejects, of a number that parsing would round, or of a name that an object has twice. An item of `limits.items` with
 *   such a value becomes an `UnstorableItem` instead
 */
export function parseJson(bytes: Uint8Array, limits: Partial<DocumentLimits> = {}): unknown {
  const { complexity, depth } = limits;
  const { names, isInexact } = scanJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), complexity);
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    const mark = UTF_16_MARKS.some((each) => each.equals(bytes.subarray(0, each.length)))
      ? ': it begins with the byte order mark of UTF-16,'
      : '';
    throw invalidJson(`The body is not valid UTF-8${mark}`, placeOfInvalidByte(bytes));
  }
  const document = parseText(text);
  const items = itemsOf(document, limits.items);
  const kept =
    items === undefined
      ? checkStorable(document, depth)
      : checkStorable({ ...(document as object), [items.of]: [] }, depth) + checkItems(items.list, depth);
  const losses = kept < names || isInexact ? findLosses(text, items?.of) : undefined;
  const errorOf = ({ path, message }: Loss) => invalidValue(path.map(printable), message);
  if (losses?.first !== undefined) throw errorOf(losses.first);
  for (const [index, loss] of losses?.ofItems ?? []) {
    if (items !== undefined && !(items.list[index] instanceof UnstorableItem))
      items.list[index] = new UnstorableItem(items.list[index], errorOf(loss));
  }
  return document;
}

/** The items that are requests by themselves. More than the allowed ones are none: the contract refuses the request. */
function itemsOf(document: unknown, { of, max }: Partial<DocumentLimits['items']> = {}) {
  if (of === undefined || typeof document !== 'object' || document === null) return undefined;
  const list = ownProperty(document as Readonly<Record<string, unknown>>, of);
  return Array.isArray(list) && list.length <= (max ?? 0) ? { of, list: list as unknown[] } : undefined;
}

/** An item that is a request by itself and cannot be stored. The path of its error begins at the item. */
export class UnstorableItem {
  readonly value: unknown;
  readonly fault: DomainError;

  constructor(value: unknown, fault: DomainError) {
    this.value = value;
    this.fault = fault;
  }
}

/** Replaces each item that cannot be stored. Returns how many names the other items have. */
function checkItems(list: unknown[], maxDepth = MAX_DEPTH): number {
  let names = 0;
  for (const [index, item] of list.entries()) {
    try {
      // Two levels are the document and the list.
      names += checkStorable(item, maxDepth - 2);
    } catch (error) {
      list[index] = new UnstorableItem(item, error as DomainError);
    }
  }
  return names;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fault = findJsonFault(text);
    if (fault.kind === 'several') {
      throw new DomainError('multiple_json_values', 'The body must be one JSON document, not several');
    }
    const place = placeAfter(Buffer.from(text.slice(0, fault.index)));
    if (text.trim() === '') throw new DomainError('invalid_json', 'The body is empty', { details: { ...place } });
    const mark = text.startsWith(BYTE_ORDER_MARK) ? ': it begins with a byte order mark, U+FEFF,' : '';
    throw invalidJson(`The body is not valid JSON${mark}`, place);
  }
}

const invalidJson = (message: string, { line, column }: Place) =>
  new DomainError('invalid_json', `${message} at line ${line}, column ${column}`, { details: { line, column } });

const invalidValue = (path: readonly string[], message: string) =>
  new DomainError('invalid_request', message, { field: path.length === 0 ? undefined : path.join('.') });

function placeOfInvalidByte(bytes: Uint8Array): Place {
  const replaced = Buffer.from(Buffer.from(bytes).toString());
  // The first byte that decoding with replacement characters does not keep.
  let index = 0;
  while (index < bytes.length && replaced[index] === bytes[index]) index += 1;
  // A character that is cut short can begin like the replacement character.
  while (!isUtf8(bytes.subarray(0, index))) index -= 1;
  return placeAfter(bytes.subarray(0, index));
}

/**
 * Rejects JSON values that cannot be stored unchanged: U+0000 and unpaired surrogates (Postgres stores neither),
 * numbers beyond 2^53 - 1, and deeper nesting.
 * @returns how many property names its objects have
 * @throws DomainError `invalid_request` with the path of the first such value
 */
export function checkStorable(document: unknown, maxDepth = MAX_DEPTH): number {
  const counter = { names: 0, maxDepth };
  const fault = findUnstorable(document, 0, counter);
  if (fault !== undefined) throw invalidValue(fault.path.reverse(), fault.message);
  return counter.names;
}

/** @throws DomainError `invalid_request` naming `field` */
export function checkText(text: string, field: string): void {
  const message = textViolation(text);
  if (message !== undefined) throw invalidRequest(field, message);
}

function textViolation(text: string): string | undefined {
  if (text.includes('\0')) return 'Must not contain U+0000';
  return text.isWellFormed() ? undefined : 'Must not contain an unpaired surrogate';
}

interface Unstorable {
  message: string;
  /** The innermost name or index first: each caller adds its own, so that only a fault has a path. */
  path: string[];
}

interface Counter {
  names: number;
  readonly maxDepth: number;
}

function findUnstorable(value: unknown, depth: number, counter: Counter): Unstorable | undefined {
  if (typeof value === 'string') return unstorable(textViolation(value));
  if (typeof value === 'number') {
    return unstorable(Math.abs(value) > Number.MAX_SAFE_INTEGER ? 'Must be from -(2^53 - 1) to 2^53 - 1' : undefined);
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { maxDepth } = counter;
  if (depth === maxDepth) return unstorable(`Must not be nested more than ${maxDepth} levels deep`);
  return Array.isArray(value)
    ? findUnstorableItem(value, depth, counter)
    : findUnstorableMember(value as Record<string, unknown>, depth, counter);
}

const unstorable = (message: string | undefined): Unstorable | undefined =>
  message === undefined ? undefined : { message, path: [] };

function findUnstorableItem(items: readonly unknown[], depth: number, counter: Counter): Unstorable | undefined {
  for (let index = 0; index < items.length; index += 1) {
    const fault = findUnstorable(items[index], depth + 1, counter);
    if (fault !== undefined) {
      fault.path.push(String(index));
      return fault;
    }
  }
  return undefined;
}

function findUnstorableMember(
  members: Record<string, unknown>,
  depth: number,
  counter: Counter,
): Unstorable | undefined {
  const names = Object.keys(members);
  counter.names += names.length;
  for (const name of names) {
    const fault = unstorable(textViolation(name)) ?? findUnstorable(ownProperty(members, name), depth + 1, counter);
    if (fault !== undefined) {
      fault.path.push(printable(name));
      return fault;
    }
  }
  return undefined;
}
