import { EARLIEST_INSTANT } from '@tocsin/schemas';
import { invalidRequest } from '@tocsin/http';
import { type Instant, localTime, startOfDay } from '@tocsin/runtime';
import type { TimeRange } from './list-filters.ts';

export const BUCKETS = ['day', 'week', 'month'] as const;
export type Bucket = (typeof BUCKETS)[number];

export const MAX_BUCKETS = 400;

/** How many buckets statistics have if the request names no beginning. */
export const DEFAULT_BUCKETS = 30;

/** The size of buckets, and the zone in which they begin. */
export interface BucketSize {
  bucket: Bucket;
  timeZone: string;
}

const EARLIEST = Date.parse(EARLIEST_INSTANT);

/** The start of the bucket that is `steps` buckets away from the one of a time. Weeks start on Monday. */
function bucketStart(time: number, { bucket, timeZone }: BucketSize, steps = 0): number {
  const local = localTime(time, timeZone);
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  const midnight = new Date(0);
  if (bucket === 'month') midnight.setUTCFullYear(year, month + steps, 1);
  else if (bucket === 'day') midnight.setUTCFullYear(year, month, day + steps);
  else midnight.setUTCFullYear(year, month, day - ((local.getUTCDay() + 6) % 7) + 7 * steps);
  return Math.max(startOfDay(midnight.getTime(), timeZone), EARLIEST);
}

/**
 * The starts of the buckets that a range of times touches, the first one first. A range without an end ends now; none
 * begins before the year 1.
 * @throws DomainError `invalid_request` for more than `MAX_BUCKETS`
 */
export function bucketStarts({ from, to, before }: TimeRange, size: BucketSize, now: Instant): Instant[] {
  const last = before === null ? Date.parse(to ?? now) : Date.parse(before) - 1;
  const first = from === null ? bucketStart(last, size, 1 - DEFAULT_BUCKETS) : bucketStart(Date.parse(from), size);
  const starts: Instant[] = [];
  for (let start = first; start <= last; start = bucketStart(start, size, 1)) {
    if (starts.length === MAX_BUCKETS) {
      throw invalidRequest('created_from', `Must be at most ${MAX_BUCKETS} buckets before the end of the span`);
    }
    starts.push(new Date(start).toISOString());
  }
  return starts;
}
