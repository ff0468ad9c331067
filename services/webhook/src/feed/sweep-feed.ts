import type { Knex } from '@tocsin/postgres';
import { addMilliseconds } from '@tocsin/runtime';
import { deleteRecordedBefore } from './store/feed-trimmer.ts';
import type { Time } from '../shared/store/time.ts';
import type { FeedMetrics } from './feed-metrics.ts';

const DAY = 24 * 3_600_000;

export interface SweepDependencies {
  database: Knex;
  time: Time;
  metrics: FeedMetrics;
  retentionDays: number;
}

/** Deletes some of the events past their retention. Returns whether there may be more. */
export async function sweepFeed({ database, time, metrics, retentionDays }: SweepDependencies): Promise<boolean> {
  const before = addMilliseconds(await time(database), -retentionDays * DAY);
  const deleted = await deleteRecordedBefore(database, before);
  metrics.swept.inc(deleted);
  return deleted > 0;
}
