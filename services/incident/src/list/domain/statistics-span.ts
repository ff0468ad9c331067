import { invalidRequest } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { TimeRange } from './list-filters.ts';

export const BUCKETS = ['day', 'week', 'month'] as const;
export type Bucket = (typeof BUCKETS)[number];

export const MAX_BUCKETS = 400;

/** How many buckets statistics have if the request names no beginning. */
export const DEFAULT_BUCKETS = 30;

/** The start of the bucket, in UTC, that is `steps` buckets away from the one of a time. Weeks start on Monday. */
function bucketStart(time: Date, bucket: Bucket, steps = 0): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  const start = new Date(0);
  if (bucket === 'month') start.setUTCFullYear(year, month + steps, 1);
  else if (bucket === 'day') start.setUTCFullYear(year, month, day + steps);
  else start.setUTCFullYear(year, month, day - ((time.getUTCDay() + 6) % 7) + 7 * steps);
  return start;
}

/**
 * The starts of the buckets that a range of times touches, the first one first. A range without an end ends now.
 * @throws DomainError `invalid_request` for more than `MAX_BUCKETS`
 */
export function bucketStarts({ from, to, before }: TimeRange, bucket: Bucket, now: Instant): Instant[] {
  const last = before === null ? new Date(to ?? now) : new Date(Date.parse(before) - 1);
  const first = from === null ? bucketStart(last, bucket, 1 - DEFAULT_BUCKETS) : bucketStart(new Date(from), bucket);
  const starts: Instant[] = [];
  for (let start = first; start <= last; start = bucketStart(start, bucket, 1)) {
    if (starts.length === MAX_BUCKETS) {
      throw invalidRequest('created_from', `Must be at most ${MAX_BUCKETS} buckets before the end of the span`);
    }
    starts.push(start.toISOString());
  }
  return starts;
}
