import { DomainError, invalidRequest } from './errors.ts';

/** Deeper than any real value, and shallow enough for recursive functions. */
const MAX_DEPTH = 100;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses bytes that must contain exactly one JSON document.
 * @throws DomainError `multiple_json_values` for two or more documents, `invalid_json` for anything else
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new DomainError('invalid_json', 'The body is not valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    if (countDocuments(text) > 1)
      throw new DomainError('multiple_json_values', 'The body must be one JSON document, not several');
    throw new DomainError(
      'invalid_json',
      text.trim() === '' ? 'The body is empty' : 'The body is not a valid JSON document',
    );
  }
}

/**
 * Rejects JSON values that cannot be stored unchanged: U+0000 and unpaired surrogates (Postgres stores neither),
 * numbers beyond 2^53 - 1, and nesting deeper than `MAX_DEPTH`.
 * @throws DomainError `invalid_request` with the path of the first such value
 */
export function checkStorable(document: unknown): void {
  const open: { value: unknown; path: string; depth: number }[] = [{ value: document, path: '', depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path, depth } = next;
    if (typeof value === 'string') checkText(value, path);
    else if (typeof value === 'number') {
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw invalidRequest(path, 'Must be from -(2^53 - 1) to 2^53 - 1');
    } else if (typeof value === 'object' && value !== null) {
      if (depth === MAX_DEPTH) throw invalidRequest(path, `Must not be nested more than ${MAX_DEPTH} levels deep`);
      // In reverse, so that the first invalid value in document order is reported.
      for (const [key, child] of Object.entries(value).reverse()) {
        const childPath = path === '' ? key : `${path}.${key}`;
        checkText(key, path === '' ? printable(key) : `${path}.${printable(key)}`);
        open.push({ value: child, path: childPath, depth: depth + 1 });
      }
    }
  }
}

/** @throws DomainError `invalid_request` naming `field` */
export function checkText(text: string, field: string): void {
  if (text.includes('\0')) throw invalidRequest(field, 'Must not contain U+0000');
  if (!text.isWellFormed()) throw invalidRequest(field, 'Must not contain an unpaired surrogate');
}

const printable = (key: string) => key.replaceAll('\0', '\uFFFD').toWellFormed();

/** Counts the documents in `text`; 0 if it is not a sequence of complete documents. */
function countDocuments(text: string): number {
  let count = 0;
  let rest = text.trimStart();
  while (rest !== '') {
    const end = endOfValue(rest);
    try {
      JSON.parse(rest.slice(0, end));
    } catch {
      return 0;
    }
    count += 1;
    rest = rest.slice(end).trimStart();
  }
  return count;
}

/** The index after the value at the start of `text`, provided that it is valid JSON. */
function endOfValue(text: string): number {
  const first = text.charAt(0);
  if (first === '"') return endOfString(text, 0);
  if (first !== '{' && first !== '[') return /^[^\s"{}[\],:]*/.exec(text)?.[0].length ?? 0;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '"') index = endOfString(text, index) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return text.length;
}

function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text.charAt(index) === '\\') index += 1;
    else if (text.charAt(index) === '"') return index + 1;
  }
  return text.length;
}
