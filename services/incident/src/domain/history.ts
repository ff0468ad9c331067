import type { Instant } from '@tocsin/runtime';

const DAY = 86_400_000;
/** The first moment that can be written. */
const FIRST = Date.parse('0001-01-01T00:00:00.000Z');

/** From when on lists show the incidents of a workspace with a history limit; null: all of them. */
export function visibleFrom(historyDays: number | null, now: Instant): Instant | null {
  if (historyDays === null) return null;
  return new Date(Math.max(FIRST, Date.parse(now) - historyDays * DAY)).toISOString();
}
