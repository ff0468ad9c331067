import { MAX_TIMESTAMP } from './limits.ts';
import { boundedText } from './text-schemas.ts';

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const LEAP_SECOND = /^(.{17})60/;
/** The end of a timestamp whose offset was sent as `+02:00` in a query, where `+` is a space. */
const OFFSET_AFTER_SPACE = / (\d\d:\d\d)$/;

/** The first instant that a text can name. */
export const EARLIEST_INSTANT = '0001-01-01T00:00:00.000Z';

/** Whether the day exists in the calendar; years 0001 to 9999. */
export function isCalendarDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  // Day 0 of the next month is the last of this one; setUTCFullYear, because Date.UTC reads years below 100 as 19xx.
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  return day <= last.getUTCDate();
}

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  return isCalendarDay(Number(year), Number(month), Number(day));
}

export const NO_DATE = 'Must be a calendar date, YYYY-MM-DD';

/** A day in a request. */
export const dateText = () =>
  boundedText(10)
    .refine(isDate, NO_DATE)
    .meta({ pattern: String.raw`^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$` });

/**
 * Reads an RFC 3339 timestamp with any offset (contract: Requests) and returns it in UTC, truncated to milliseconds.
 * @returns `undefined` for any other text, for days that do not exist and for years outside 0001 to 9999 (UTC)
 */
export function parseTimestamp(text: string): string | undefined {
  const [, year, month, day] = RFC_3339.exec(text) ?? [];
  if (!isCalendarDay(Number(year), Number(month), Number(day))) return undefined;
  const milliseconds = Date.parse(text.toUpperCase());
  if (Number.isNaN(milliseconds)) return undefined;
  const utc = new Date(milliseconds).toISOString();
  // toISOString writes years outside the range with a sign.
  return /^(?!0000)\d{4}-/.test(utc) ? utc : undefined;
}

/**
 * Rounds an RFC 3339 timestamp up to the next millisecond. Stored moments have milliseconds, so "at or after" and
 * "before" a finer bound mean "at or after" and "before" the rounded one.
 * @returns `undefined` for text that `parseTimestamp` does not accept
 */
export function ceilTimestamp(text: string): string | undefined {
  const truncated = parseTimestamp(text);
  if (truncated === undefined || !/\.\d{3}\d*[1-9]/.test(text)) return truncated;
  // The last millisecond of the year 9999 is the maximum.
  return parseTimestamp(new Date(Date.parse(truncated) + 1).toISOString()) ?? truncated;
}

/**
 * Says what is wrong with a text that is not a timestamp.
 * @returns `undefined` for text that `parseTimestamp` accepts
 */
export function timestampViolation(text: string, rule = 'Must be an RFC 3339 timestamp with a time zone') {
  if (parseTimestamp(text) !== undefined) return undefined;
  const fault = timestampFault(text);
  return fault === undefined ? rule : `${rule}: ${fault}`;
}

function timestampFault(text: string): string | undefined {
  if (parseTimestamp(text.replace(OFFSET_AFTER_SPACE, '+$1')) !== undefined)
    return 'the offset begins with a space, which is what + means in a query; write %2B there';
  if (parseTimestamp(text.replace(LEAP_SECOND, '$159')) !== undefined)
    return 'leap seconds, such as 23:59:60, are not accepted';
  const [, year, month, day] = RFC_3339.exec(text) ?? [];
  if (day === undefined) return undefined;
  const isInCalendar = isCalendarDay(Number(year), Number(month), Number(day));
  return isInCalendar || year === '0000' ? 'the years are 0001 to 9999 in UTC' : 'the day does not exist';
}

/** A timestamp in a request whose property may have something else, too. @param rule the message for other text */
export const timestampText = (rule?: string) =>
  boundedText(MAX_TIMESTAMP)
    .refine((text) => parseTimestamp(text) !== undefined, {
      error: ({ input }) => timestampViolation(String(input), rule),
    })
    .meta({ format: 'date-time' });

/** A timestamp in a request. The output is the text as sent: convert it with `parseTimestamp`. */
export const timestampInput = timestampText();
