import { isCalendarDay } from '@tocsin/schemas';
import { isTimeZone, ownProperty, UTC } from '@tocsin/runtime';

/** Why something cannot be read, as a clause like "its date has no year". */
export interface Violation {
  violation: string;
}

/** The name of a time zone, or an offset like `+01:00`. */
export type Zone = string | Violation;
/** Like `2024-03-05`. */
export type WrittenDate = string | Violation;

/** A time as a document writes it. */
export interface WrittenTime {
  date?: WrittenDate | undefined;
  /** Milliseconds since local midnight; `undefined`: there is only a date. */
  clock: number | Violation | undefined;
  zone?: Zone | undefined;
  /** Of the text that was read. */
  length: number;
}

/** Abbreviations with one meaning; in the contract. */
const OFFSETS: Readonly<Record<string, string>> = {
  ...{ Z: UTC, UTC, GMT: UTC, WET: '+00:00', WEST: '+01:00', CET: '+01:00', CEST: '+02:00', EET: '+02:00' },
  ...{ EEST: '+03:00', MSK: '+03:00', SAST: '+02:00', JST: '+09:00', KST: '+09:00', AWST: '+08:00' },
  ...{ ACST: '+09:30', ACDT: '+10:30', AEST: '+10:00', AEDT: '+11:00', NZST: '+12:00', NZDT: '+13:00' },
  ...{ EST: '-05:00', EDT: '-04:00', MST: '-07:00', MDT: '-06:00', PST: '-08:00', PDT: '-07:00' },
  ...{ AKST: '-09:00', AKDT: '-08:00', HST: '-10:00', ET: 'America/New_York', CT: 'America/Chicago' },
  ...{ MT: 'America/Denver', PT: 'America/Los_Angeles' },
};
/** Others that stand for a zone behind a time: for several ones, or for one that is not in the list above. */
const UNREAD = new Set(
  'ADT AMT ART AST BRT BST CAT CDT CLT COT CST EAT ECT GST HKT ICT IDT IRST IST NDT NST NPT PHT PKT SGT SST TRT WAT WIB WIT WITA'.split(
    ' ',
  ),
);

/** Reads a word that may name a time zone: an abbreviation, `UTC+1`, or a name of the IANA database with a slash. */
export function readZone(word: string): Zone | undefined {
  const utc = /^(?:utc|gmt)(?:([+-]\d{1,2})(?::?(\d\d))?)?$/i.exec(word);
  if (utc !== null) return utc[1] === undefined ? UTC : offset(utc[1], utc[2]);
  if (word.includes('/')) return isTimeZone(word) ? word : undefined;
  if (UNREAD.has(word)) return { violation: `${word} is not an abbreviation of one known time zone` };
  return ownProperty(OFFSETS, word);
}

function offset(hours: string, minutes = '00'): string | undefined {
  const [sign, digits] = [hours.charAt(0), hours.slice(1)];
  return Number(digits) > 14 || Number(minutes) > 59 ? undefined : `${sign}${digits.padStart(2, '0')}:${minutes}`;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const WEEKDAY = '(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\\.?,?\\s{1,3})?';
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?';
const ISO_DATE = /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?!\d)/;
const DOTTED_DATE = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)/;
const SLASHED_DATE = /^\d{1,2}\/\d{1,2}\/(?:\d{4}|\d\d)(?!\d)/;
const MONTH_FIRST = new RegExp(`^${WEEKDAY}${MONTH}\\s{1,3}${DAY}(?:,?\\s{1,3}(\\d{4}))?(?![\\dA-Za-z]|:\\d)`, 'i');
const DAY_FIRST = new RegExp(
  `^${WEEKDAY}${DAY}(?:\\s{1,3}|-)(?:of\\s{1,3})?${MONTH}(?:(?:,?\\s{1,3}|-)(\\d{4}))?(?![\\dA-Za-z]|:\\d)`,
  'i',
);

/** Reads a date at the start of a text. */
export function readDate(text: string): { date: WrittenDate; length: number } | undefined {
  const iso = ISO_DATE.exec(text);
  if (iso !== null) return dateOf(iso[0], [iso[1], iso[3], iso[4]]);
  const dotted = DOTTED_DATE.exec(text);
  if (dotted !== null) return dateOf(dotted[0], [dotted[3], dotted[2], dotted[1]]);
  const slashed = SLASHED_DATE.exec(text);
  if (slashed !== null) {
    return { date: { violation: 'its date has slashes and does not begin with the year' }, length: slashed[0].length };
  }
  const monthFirst = MONTH_FIRST.exec(text);
  if (monthFirst !== null) return dateOf(monthFirst[0], [monthFirst[3], monthOf(monthFirst[1]), monthFirst[2]]);
  const dayFirst = DAY_FIRST.exec(text);
  if (dayFirst !== null) return dateOf(dayFirst[0], [dayFirst[3], monthOf(dayFirst[2]), dayFirst[1]]);
  return undefined;
}

const monthOf = (name = '') => String(MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1);

function dateOf(text: string, [year, month = '', day = '']: readonly (string | undefined)[]) {
  const { length } = text;
  if (year === undefined) return { date: { violation: 'its date has no year' }, length };
  const exists = isCalendarDay(Number(year), Number(month), Number(day));
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return { date: exists ? date : { violation: 'its date does not exist' }, length };
}

const SEPARATOR = /^(?:[Tt](?=\d)|,?\s{1,3}(?:at\s{1,3}|@\s?|[-–—]\s{1,3})?)/;
const CLOCK = /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:\s?([ap])\.?m\b\.?)?(?![\da-y]|z[\da-z]|:\d)/i;
const OFFSET = /^(\s{0,2})([+-]\d\d):?(\d\d)(?![\dA-Za-z]|:\d)/;
const ZONE_WORD =
  /^\s{0,2}(\(?)([A-Za-z]{1,10}(?:\/[A-Za-z_-]{1,20}){0,2}(?:[+-]\d{1,2}(?::?\d\d)?)?)(\)?)(?![\dA-Za-z/])/;

/**
 * Reads a date, a time of day, or both at the start of a text, with the zone behind them. A minus directly behind hours and
 * minutes begins the end of a span (`14:32-15:10`), unless a T or seconds are before it.
 */
export function readTime(text: string): WrittenTime | undefined {
  const dated = readDate(text);
  const separator = dated && (SEPARATOR.exec(text.slice(dated.length, dated.length + 20))?.[0] ?? '');
  const start = (dated?.length ?? 0) + (separator?.length ?? 0);
  const match = dated !== undefined && separator === '' ? null : CLOCK.exec(text.slice(start, start + 40));
  if (match === null) return dated && { ...dated, clock: undefined };
  const [written, hours = '', minutes = '', seconds, fraction = '', half] = match;
  const clock = clockOf([hours, minutes, seconds ?? '0'].map(Number), { fraction, half: half?.toLowerCase() });
  const end = start + written.length;
  const behind = text.slice(end, end + 60);
  const isExact = seconds !== undefined || separator?.toLowerCase() === 't';
  const [, blank, sign, more] = OFFSET.exec(behind) ?? [];
  const given =
    sign === undefined || (blank === '' && sign.startsWith('-') && !isExact) ? undefined : offset(sign, more);
  if (given !== undefined)
    return { date: dated?.date, clock, zone: given, length: end + (OFFSET.exec(behind)?.[0].length ?? 0) };
  const [zoned = '', open = '', word = '', close = ''] = ZONE_WORD.exec(behind) ?? [];
  const zone = (open === '') === (close === '') || open === '' ? readZone(word) : undefined;
  if (zone === undefined) return { date: dated?.date, clock, length: end };
  return { date: dated?.date, clock, zone, length: end + zoned.length - (open === '' ? close.length : 0) };
}

function clockOf(
  [hours = 0, minutes = 0, seconds = 0]: readonly number[],
  { fraction, half }: { fraction: string; half: string | undefined },
): number | Violation {
  const exists = minutes < 60 && seconds < 60 && (half === undefined ? hours < 24 : hours > 0 && hours < 13);
  if (!exists) return { violation: 'its time does not exist' };
  const hour = half === undefined ? hours : (hours % 12) + (half === 'p' ? 12 : 0);
  return ((hour * 60 + minutes) * 60 + seconds) * 1_000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}
