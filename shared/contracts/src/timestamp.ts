import { MAX_TIMESTAMP } from './limits.ts';
import { boundedText } from './text-schemas.ts';

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Whether the day exists in the calendar; years 0001 to 9999. */
export function isCalendarDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  // Day 0 of the next month is the last of this one; setUTCFullYear, because Date.UTC reads years below 100 as 19xx.
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  return day <= last.getUTCDate();
}

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

/** A timestamp in a request. The output is the text as sent: convert it with `parseTimestamp`. */
export const timestampInput = boundedText(MAX_TIMESTAMP)
  .refine((text) => parseTimestamp(text) !== undefined, 'Must be an RFC 3339 timestamp with a time zone')
  .meta({ format: 'date-time' });
