import { marked } from '../visible.ts';

/** Bytes of an answer at most. */
const LARGEST_ANSWER = 20_000;

/** Characters of a text that is shortened. */
const SHORTEST_TEXT = 60;

/** What an agent needs to go on, or to name a resource, is never shortened. */
const HANDLE = /^(?:id|.+_id|reference|revision|key|slug|pagination|.*cursor)$/;
/** Where there is no place for anything else: the handles of an object, their characters, and how deep they are. */
const MAX_HANDLES = 20;
const LONGEST_HANDLE = 256;
const DEEPEST = 3;

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

const fits = (value: unknown) => bytesOf(value) <= LARGEST_ANSWER;

/** A value that fits, with marks for hidden characters. */
export const shorten = (value: unknown): unknown => fitted(marked(value));

/** The longest texts are shortened, and the longest lists, until it fits. */
function fitted(value: unknown): unknown {
  let shortened = value;
  for (let length = 4_000; !fits(shortened) && length >= SHORTEST_TEXT; length /= 2) {
    shortened = limit(value, length);
  }
  if (fits(shortened)) return shortened;
  // Many properties, each of them small.
  for (let depth = DEEPEST; ; depth -= 1) {
    const handles = { too_large: true, ...(handlesOf(value, depth) as object) };
    if (fits(handles) || depth === 0) return handles;
  }
}

/** @param length of texts in characters; lists get a twentieth of it */
function limit(value: unknown, length: number): unknown {
  if (typeof value === 'string') {
    if (value.length <= length) return value;
    return `${value.slice(0, length).toWellFormed()}… [shortened: ${value.length} characters]`;
  }
  if (Array.isArray(value)) {
    const most = Math.ceil(length / 20);
    const items = value.slice(0, most).map((item) => limit(item, length));
    return value.length > most ? [...items, `… [shortened: ${value.length} items]`] : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isHandle(name, inner) ? inner : limit(inner, length)]),
  );
}

/** A custom field may have such a name, and any value. */
const isHandle = (name: string, value: unknown): boolean => {
  if (typeof value === 'object') return name === 'pagination';
  return HANDLE.test(name) && (typeof value !== 'string' || value.length <= LONGEST_HANDLE || name === 'next_cursor');
};

/** Only the handles of an object, of those in it, and of the first item of each list. */
function handlesOf(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => handlesOf(item, depth));
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = Object.entries(value);
  const handles = entries.filter(([name, inner]) => isHandle(name, inner)).slice(0, MAX_HANDLES);
  const inner = depth === 0 ? [] : entries.map(([name, one]) => [name, handlesOf(one, depth - 1)] as const);
  const below = inner.filter(([, one]) => one !== undefined && JSON.stringify(one) !== '{}').slice(0, MAX_HANDLES);
  return Object.fromEntries([...below, ...handles]);
}

/** Reads a page that fits, with fewer rows if it must be: its cursor is right then, too. */
export async function readFittingPage<Page>(read: (limit: number) => Promise<Page>, rows: number): Promise<unknown> {
  for (let count = rows; ; count = Math.ceil(count / 2)) {
    const page = marked(await read(count));
    if (fits(page) || count === 1) return fitted(page);
  }
}
