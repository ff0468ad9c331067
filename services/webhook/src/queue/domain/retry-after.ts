import type { Instant } from '@tocsin/runtime';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = String.raw`(?<hours>[01]\d|2[0-3]):(?<minutes>[0-5]\d):(?<seconds>[0-5]\d|60)`;

/** The three formats of an HTTP date. */
const HTTP_DATES = [
  // Fri, 20 Nov 2026 09:30:00 GMT
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT`,
  // Friday, 20-Nov-26 09:30:00 GMT
  String.raw`(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT`,
  // Fri Nov 20 09:30:00 2026
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`,
].map((format) => new RegExp(`^${format}$`));

/**
 * Reads a Retry-After header: whole seconds or an HTTP date (contract: Deliveries).
 * @returns milliseconds to wait, more than 0; undefined when the header is missing, invalid, zero or in the past
 */
export function readRetryAfter(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1_000 : readHttpDate(header, now) - Date.parse(now);
  return wait > 0 ? wait : undefined;
}

/** Milliseconds since the epoch; NaN unless the text is an HTTP date of a day that exists. */
function readHttpDate(text: string, now: Instant): number {
  const fields = HTTP_DATES.map((format) => format.exec(text)?.groups).find((groups) => groups !== undefined);
  if (fields === undefined) return Number.NaN;
  const { day, month = '', year = '', hours, minutes, seconds } = fields;
  const midnight = Date.UTC(fullYear(year, now), MONTHS.indexOf(month), Number(day));
  // Date.UTC turns the 31st of a 30-day month into the 1st of the next month.
  if (new Date(midnight).getUTCDate() !== Number(day)) return Number.NaN;
  return midnight + ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}

/** Reads a two-digit year as the latest one that is at most fifty years ahead (RFC 9110). */
function fullYear(digits: string, now: Instant): number {
  if (digits.length !== 2) return Number(digits);
  const thisYear = Number(now.slice(0, 4));
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
