import { readDate, readTime, type WrittenTime } from './written-time.ts';

/** Markup around a timestamp: emphasis and code. */
const WRAPPER = /^[*_`]{1,4}/;
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)(?![0-9A-Za-z])/;
/** A malformed timestamp. */
const MALFORMED_TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d\S*/;
/** The separator: right after the timestamp, between blanks, or before the end of the markup. */
const SEPARATOR = /^(?:[-–—:]|\s+[-–—:](?=[\s*_`]|$))?\s*/;
/** A zone behind the markup of its time: **14:32** UTC. */
const ZONE_BEHIND = /^\s?(?:UTC|GMT)(?![+\w/-])/;

export interface TimestampedItem {
  /** The timestamp if it is as RFC 3339 writes it, or malformed. */
  at?: string;
  /** Any other time. */
  written?: WrittenTime;
  /** Whether it has the form of a timestamp of RFC 3339, perhaps a malformed one. */
  isTimestamp: boolean;
  /** The text after it, without markup and separator. */
  text: string;
}

/**
 * Reads the time at the start of a list item or of another line.
 * @returns `undefined` if it does not start with a time
 */
export function parseTimestampedItem(content: string): TimestampedItem | undefined {
  const bracketed = /^\[([^[\]]{4,60})\](?!\()/.exec(content);
  const wrapper = WRAPPER.exec(content)?.[0] ?? '';
  const unwrapped = content.slice(wrapper.length);
  const timestamp = TIMESTAMP.exec(unwrapped)?.[0];
  if (timestamp !== undefined)
    return { at: timestamp, isTimestamp: true, text: textAfter(unwrapped.slice(timestamp.length), wrapper) };

  const start = bracketed?.[1] ?? unwrapped;
  const written = readTime(start);
  if (written?.clock !== undefined && (bracketed === null || written.length === start.length)) {
    const isTimestamp = MALFORMED_TIMESTAMP.test(start);
    if (bracketed !== null) return { written, isTimestamp, text: textAfter(content.slice(bracketed[0].length), '') };
    const text = textAfter(unwrapped.slice(written.length), wrapper);
    const zone = written.zone === undefined && wrapper !== '' ? ZONE_BEHIND.exec(text)?.[0] : undefined;
    const timed = zone === undefined ? written : { ...written, zone: 'UTC' };
    const textOfItem = zone === undefined ? text : text.slice(zone.length).replace(SEPARATOR, '');
    const clock = isFollowedByDate(timed, textOfItem) ? DATE_BEHIND : timed.clock;
    return { written: { ...timed, clock }, isTimestamp, text: textOfItem };
  }
  const malformed = MALFORMED_TIMESTAMP.exec(unwrapped)?.[0];
  return malformed === undefined
    ? undefined
    : { at: malformed, isTimestamp: true, text: textAfter(unwrapped.slice(malformed.length), wrapper) };
}

const DATE_BEHIND = { violation: 'a date is behind its time, where it may be a part of the text' };

const isFollowedByDate = ({ date }: WrittenTime, text: string): boolean =>
  date === undefined && typeof readDate(text.slice(0, 60).replace(/^(?:,\s?|on\s)/, ''))?.date === 'string';

function textAfter(remainder: string, wrapper: string): string {
  const separated = remainder.replace(SEPARATOR, '');
  if (wrapper === '') return separated;
  const closing = [...wrapper].reverse().join('');
  // **time** – text, and **time:** text.
  const wrapped = [remainder, separated].find((each) => each.startsWith(closing));
  if (wrapped !== undefined) return wrapped.slice(closing.length).replace(SEPARATOR, '');
  // **time – title** text: the markup continues after the timestamp, so the text keeps it.
  return `${wrapper}${separated}`;
}
