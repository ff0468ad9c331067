import type { SourceEntry } from './entry.ts';
import { parseTimestampedItem } from './markdown-item.ts';
import { type WrittenDate, type Zone, readDate, readZone } from './written-time.ts';

/** A date for the times below it. */
interface HeldDate {
  value: WrittenDate;
  level: number;
  /** The line of a date that may mean something else: behind the mere word `Date`, or in a heading with other words. */
  loose?: { line: number; isFirstLabel: boolean };
}

/**
 * Keeps the date and the zone that lines of a document give to the times below them. A date holds until the next one, and until
 * the end of the section in which it stands; the zone of a heading or of a line with a date holds in that section, too. The zone
 * of a sentence holds in the whole document. A loose date does not end one that is not.
 */
export function timeContext() {
  /** Of the section; 0: before the first heading. */
  let level = 0;
  let date: HeldDate | undefined;
  let hasDates = false;
  let zone: { value: Zone; level: number } | undefined;
  /** The time of the latest entry with this date. */
  let latest: number | undefined;
  const stated: Zone[] = [];

  const setDate = (value: WrittenDate, loose?: HeldDate['loose']) => {
    if (loose !== undefined && date !== undefined && (date.loose === undefined || date.value === value)) return;
    date = { value, level, ...(loose && { loose }) };
    hasDates = true;
    latest = undefined;
  };
  const line = (text: string, number: number) => {
    const read = readContextLine(text);
    const loose = read?.isLabelled === true ? { line: number, isFirstLabel: !hasDates } : undefined;
    if (read?.date !== undefined) setDate(read.date, loose);
    if (read?.zone !== undefined) zone = { value: read.zone, level };
    return read !== undefined;
  };
  return {
    heading(newLevel: number, text: string, number: number): void {
      level = newLevel;
      if (date !== undefined && level <= date.level) {
        // A section that only describes the incident stands beside that with its times.
        const isBeside = date.loose?.isFirstLabel === true && latest === undefined && level === date.level;
        date = isBeside ? { ...date, level: level - 1 } : undefined;
      }
      if (zone !== undefined && level <= zone.level) zone = undefined;
      if (line(text, number)) return;
      const value = readStatedZone(text, { isHeading: true });
      if (value !== undefined) zone = { value, level };
      const isEntry = /\d:\d/.test(text) && parseTimestampedItem(text) !== undefined;
      const within = isEntry ? undefined : readDateWithin(text);
      if (within !== undefined) setDate(within, { line: number, isFirstLabel: false });
    },

    /** A line that is only a date, perhaps with a zone. */
    line,
    setDate: (value: WrittenDate) => setDate(value),

    /** A line of text. */
    prose(text: string): void {
      const value = readStatedZone(text, { isHeading: false });
      if (value !== undefined) stated.push(value);
    },

    current: () => ({ date: date?.value, zone: zone?.value }),

    /** Marks an entry whose time goes back below its date, and one whose date may mean something else. */
    place(entry: SourceEntry): SourceEntry {
      const { time } = entry;
      if (time === undefined || time.date !== date?.value) return entry;
      const isEarlier = latest !== undefined && time.clock < latest;
      latest = time.clock;
      return { ...entry, ...(isEarlier && { isEarlier }), ...(date.loose && { dateLine: date.loose.line }) };
    },

    /** Gives the zone of the whole document to entries without one. */
    complete(entries: readonly SourceEntry[]): SourceEntry[] {
      const [first, other] = new Map(stated.map((each) => [JSON.stringify(each), each])).values();
      if (first === undefined) return [...entries];
      const whole: Zone = other === undefined ? first : { violation: 'the document names several time zones' };
      return entries.map(({ time, ...entry }) => {
        if (time === undefined) return entry;
        if (time.zone !== undefined) return { ...entry, time };
        return typeof whole === 'string'
          ? { ...entry, time: { ...time, zone: { name: whole, source: 'document' } } }
          : { ...entry, ...whole };
      });
    },
  };
}

/** What a line says of the times below it. */
interface ContextLine {
  date?: WrittenDate | undefined;
  zone?: Zone | undefined;
  /** Whether the mere word `Date` is before it, which may be that of the document. */
  isLabelled?: boolean;
}

const MAX_LENGTH = 200;
/** Of a line that says nothing else. */
const MAX_WORDS = 16;

/** Words that may stand beside a date or a zone in a line that says nothing else. */
const PLAIN_WORDS = new Set(
  'a all and are at chronology date day detailed event events for full given hours in incident local log of on shown start the time timeline times timestamps timezone zone monday tuesday wednesday thursday friday saturday sunday'.split(
    ' ',
  ),
);

/**
 * Reads a line that is only a date, a zone, or both: `## March 5, 2024 (all times UTC)`, `Incident date: 2024-03-05`.
 * @returns `undefined` for a line that says anything else
 */
export function readContextLine(line: string): ContextLine | undefined {
  if (line.length > MAX_LENGTH) return undefined;
  let remainder = line.replaceAll(/<[^<>]*>|[*_`#()[\]|:;]/g, ' ').trim();
  const context: ContextLine = {};
  const words = new Set<string>();
  for (let count = 0; remainder !== ''; count += 1) {
    if (count === MAX_WORDS) return undefined;
    const dated = context.date === undefined ? readDate(remainder) : undefined;
    const word = /^[A-Za-z][A-Za-z_]*(?:\/[A-Za-z_-]+){0,2}(?:[+-]\d{1,4})?/.exec(remainder)?.[0];
    const zone = word === undefined || PLAIN_WORDS.has(word.toLowerCase()) ? undefined : readZone(word);
    if (dated !== undefined) context.date = dated.date;
    else if (zone !== undefined && context.zone === undefined) context.zone = zone;
    else if (word !== undefined && PLAIN_WORDS.has(word.toLowerCase())) words.add(word.toLowerCase());
    // The number of a day: "Day 2".
    else if (!words.has('day') || !/^\d{1,2}(?!\d)/.test(remainder)) return undefined;
    const length = dated?.length ?? word?.length ?? /^\d+/.exec(remainder)?.[0].length ?? 0;
    remainder = remainder.slice(length).replace(/^[\s,.–—-]+/, '');
  }
  if (context.date === undefined && context.zone === undefined) return undefined;
  return { ...context, isLabelled: words.has('date') && !words.has('incident') };
}

/** Words beside dates that are those of documents, versions and plans. */
const OTHER_DATES =
  /\b(?:publi|post(?!-?mortem)|updat|creat|writ|edit|modif|revis|review|draft|version|release|due|deadline)/i;

/** The date among other words of a heading: `# Checkout is down, 2024-03-05`. */
function readDateWithin(heading: string): WrittenDate | undefined {
  if (heading.length > MAX_LENGTH || OTHER_DATES.test(heading)) return undefined;
  const dates: WrittenDate[] = [];
  let end = 0;
  for (const { index } of heading.matchAll(/(?<![^\s([,:;*_–—])\w/g)) {
    const read = index < end ? undefined : readDate(heading.slice(index));
    if (read === undefined || /^[^\s)\],.:;*_–—]/.test(heading.slice(index + read.length))) continue;
    end = index + read.length;
    dates.push(read.date);
  }
  return dates.length > 1 ? { violation: 'the heading above it has several dates' } : dates[0];
}

const FILLERS = new Set(
  'all are is in shown given listed displayed stated reported recorded here below this document timeline the local and dates use used zone'.split(
    ' ',
  ),
);

/** Reads the zone of a sentence like "All times are in UTC", "Time zone: Europe/Berlin", and of `(UTC)` in a heading. */
function readStatedZone(line: string, { isHeading }: { isHeading: boolean }): Zone | undefined {
  if (line.length > MAX_LENGTH) return undefined;
  const words = [...line.matchAll(/[A-Za-z][A-Za-z_]*(?:\/[A-Za-z_-]+){0,2}(?:[+-]\d{1,2}(?::?\d\d)?)?/g)].map(
    ([word]) => word,
  );
  for (const [index, word] of words.entries()) {
    const isKey =
      /^(?:times|timestamps|timezone)$/i.test(word) || (/^time$/i.test(word) && /^zone$/i.test(words[index + 1] ?? ''));
    if (!isKey) continue;
    const next = words.slice(index + 1).find((each) => !FILLERS.has(each.toLowerCase()));
    const zone = next === undefined ? undefined : readZone(next);
    if (zone !== undefined) return zone;
  }
  const bracketed = isHeading ? /[([]([A-Za-z][\w/+:-]{0,40})[)\]]/.exec(line)?.[1] : undefined;
  return bracketed === undefined ? undefined : readZone(bracketed);
}
