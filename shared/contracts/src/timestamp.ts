import { z } from 'zod';

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Whether the calendar has the day; years 0001 to 9999. */
export function isCalendarDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  // Day 0 of the next month is the last of this one; setUTCFullYear, because Date.UTC reads years below 100 as 19xx.
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  return day <= last.getUTCDate();
}

/**
 * Reads an RFC 3339 timestamp with any offset (contract: Requests), cut to milliseconds, as UTC text.
 * @returns `undefined` for anything else, days that do not exist and moments outside the years 0001 to 9999 (UTC) included
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
 * The first millisecond that is not before an RFC 3339 timestamp: what "at or after" and "before" mean to moments that are kept
 * in milliseconds, where the bound is finer.
 * @returns `undefined` for what `parseTimestamp` does not read
 */
export function ceilTimestamp(text: string): string | undefined {
  const cut = parseTimestamp(text);
  if (cut === undefined || !/\.\d{3}\d*[1-9]/.test(text)) return cut;
  // A bound past the last millisecond of the year 9999 stays there: nothing is later.
  return parseTimestamp(new Date(Date.parse(cut) + 1).toISOString()) ?? cut;
}

/** A timestamp in a request; it stays the text it was, so use `parseTimestamp` on it. */
export const timestampInput = z
  .string()
  .refine((text) => parseTimestamp(text) !== undefined, 'Must be an RFC 3339 timestamp with a time zone')
  .meta({ format: 'date-time' });
