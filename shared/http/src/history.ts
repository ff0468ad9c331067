import type { Instant } from '@tocsin/runtime';

const DAY = 86_400_000;
/** The earliest instant in this notation. */
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');

/**
 * Lists of a workspace with a history limit show what was created at this instant or later. Null: everything (contract:
 * Incident lists).
 */
export function visibleFrom(historyDays: number | null, now: Instant): Instant | null {
  if (historyDays === null) return null;
  return new Date(Math.max(EARLIEST, Date.parse(now) - historyDays * DAY)).toISOString();
}
