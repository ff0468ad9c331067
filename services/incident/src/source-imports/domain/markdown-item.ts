import { normaliseTimeSeparator } from './entry.ts';

/** Markup around a timestamp: emphasis and code. */
const WRAPPER = /^[*_`]{1,4}/;
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)(?![0-9A-Za-z])/;
/** A malformed timestamp. */
const MALFORMED_TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d\S*/;
/** The separator: right after the timestamp, between blanks, or before the end of the markup. */
const SEPARATOR = /^(?:[-–—:]|\s+[-–—:](?=[\s*_`]|$))?\s*/;

/**
 * Returns the timestamp at the start of a list item and the text after it, without markup and separator.
 * @returns `undefined` for an item that does not start with a timestamp
 */
export function parseTimestampedItem(content: string): { at: string; text: string } | undefined {
  const wrapper = WRAPPER.exec(content)?.[0] ?? '';
  const unwrapped = content.slice(wrapper.length);
  const stamp = (TIMESTAMP.exec(unwrapped) ?? MALFORMED_TIMESTAMP.exec(unwrapped))?.[0];
  return stamp === undefined
    ? undefined
    : { at: normaliseTimeSeparator(stamp), text: textAfter(unwrapped.slice(stamp.length), wrapper) };
}

function textAfter(rest: string, wrapper: string): string {
  const separated = rest.replace(SEPARATOR, '');
  if (wrapper === '') return separated;
  const closing = [...wrapper].reverse().join('');
  // **time** – text, and **time:** text.
  const wrapped = [rest, separated].find((each) => each.startsWith(closing));
  if (wrapped !== undefined) return wrapped.slice(closing.length).replace(SEPARATOR, '');
  // **time – title** text: the markup continues after the timestamp, so the text keeps it.
  return `${wrapper}${separated}`;
}
