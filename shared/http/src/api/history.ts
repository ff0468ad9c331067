import { EARLIEST_INSTANT } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';

const DAY = 86_400_000;

/**
 * Lists of a workspace with a history limit show what was created at this instant or later. Null: everything (contract:
 * Incident lists).
 */
export function visibleFrom(historyDays: number | null, now: Instant): Instant | null {
  if (historyDays === null) return null;
  return new Date(Math.max(Date.parse(EARLIEST_INSTANT), Date.parse(now) - historyDays * DAY)).toISOString();
}
