import type { Instant } from '@tocsin/runtime';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = String.raw`(?<hours>[01]\d|2[0-3]):(?<minutes>[0-5]\d):(?<seconds>[0-5]\d|60)`;

/** The three forms of an HTTP date. */
const HTTP_DATES = [
  // Fri, 20 Nov 2026 09:30:00 GMT
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT`,
  // Friday, 20-Nov-26 09:30:00 GMT
  String.raw`(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT`,
  // Fri Nov 20 09:30:00 2026
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/**
 * How long a Retry-After header asks to wait: whole seconds, or a date (contract: Deliveries).
 * @returns milliseconds, more than 0; `undefined` for a header that is absent, invalid, zero or past
 */
export function readRetryAfter(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1_000 : readHttpDate(header, now) - Date.parse(now);
  return wait > 0 ? wait : undefined;
}

/** Milliseconds since the epoch; NaN for anything but an HTTP date of a day that exists. */
function readHttpDate(text: string, now: Instant): number {
  const parts = HTTP_DATES.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return Number.NaN;
  const { day, month = '', year = '', hours, minutes, seconds } = parts;
  const midnight = Date.UTC(fullYear(year, now), MONTHS.indexOf(month), Number(day));
  // Date.UTC makes the 31st of a short month the 1st of the next.
  if (new Date(midnight).getUTCDate() !== Number(day)) return Number.NaN;
  return midnight + ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}

/** Two digits stand for the year that is at most fifty years ahead. */
function fullYear(digits: string, now: Instant): number {
  if (digits.length !== 2) return Number(digits);
  const thisYear = Number(now.slice(0, 4));
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
