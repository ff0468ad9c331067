import { withT } from './entry.ts';

/** What may be wrapped around a timestamp: emphasis and code. */
const WRAPPER = /^[*_`]{1,4}/;
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)(?![0-9A-Za-z])/;
/** Meant as a timestamp, whatever is wrong with it. */
const ATTEMPT = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d\S*/;
/** Right after the timestamp, or on its own between blanks, or before what ends the wrapping. */
const SEPARATOR = /^(?:[-–—:]|\s+[-–—:](?=[\s*_`]|$))?\s*/;

/**
 * The timestamp that an item of a list starts with, and the text after it; neither wrapping nor separator belongs to either.
 * @returns `undefined` for an item that does not start with one
 */
export function stampedItem(content: string): { at: string; text: string } | undefined {
  const wrapper = WRAPPER.exec(content)?.[0] ?? '';
  const bare = content.slice(wrapper.length);
  const stamp = (TIMESTAMP.exec(bare) ?? ATTEMPT.exec(bare))?.[0];
  return stamp === undefined ? undefined : { at: withT(stamp), text: textAfter(bare.slice(stamp.length), wrapper) };
}

function textAfter(rest: string, wrapper: string): string {
  const separated = rest.replace(SEPARATOR, '');
  if (wrapper === '') return separated;
  const closing = [...wrapper].reverse().join('');
  // **time** – text, and **time:** text.
  const wrapped = [rest, separated].find((each) => each.startsWith(closing));
  if (wrapped !== undefined) return wrapped.slice(closing.length).replace(SEPARATOR, '');
  // **time – title** text: what is wrapped goes on, so the text is left wrapped.
  return `${wrapper}${separated}`;
}
