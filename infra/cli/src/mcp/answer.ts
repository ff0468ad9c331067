/** Bytes of an answer at most. */
const LARGEST_ANSWER = 20_000;

/** Characters of a text that is shortened. */
const SHORTEST_TEXT = 60;

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

const fits = (value: unknown) => bytesOf(value) <= LARGEST_ANSWER;

/** A value that fits: its longest texts are shortened, and its longest lists, until it does. */
export function shorten(value: unknown): unknown {
  let shortened = value;
  for (let length = 4_000; !fits(shortened) && length >= SHORTEST_TEXT; length /= 2) {
    shortened = limit(value, length);
  }
  // Many properties, each of them small. A character has at most six bytes in JSON.
  return fits(shortened) ? shortened : { too_large: true, beginning: JSON.stringify(value).slice(0, 3_000) };
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
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, limit(inner, length)]));
}

/** Reads a page that fits, with fewer rows if it must be: its cursor is right then, too. */
export async function readFittingPage<Page>(read: (limit: number) => Promise<Page>, rows: number): Promise<unknown> {
  for (let count = rows; ; count = Math.ceil(count / 2)) {
    const page = await read(count);
    if (fits(page) || count === 1) return shorten(page);
  }
}
