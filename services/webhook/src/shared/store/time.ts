import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Clock, Instant } from '@tocsin/runtime';

/** Returns the current time. All replicas use the database's clock, so that they agree on when deliveries are due. */
export type ReadTime = (db: Knex) => Promise<Instant>;

export interface Time extends ReadTime {
  /** For a statement that contains `currentTime` and so reads the time itself. */
  parameter: () => Instant | null;
}

/**
 * The current time in a statement; `parameter` is the one whose value is `time.parameter()`. Truncated, as JavaScript
 * clocks are; a cast to three decimals would round.
 */
export const currentTime = (parameter: string): string =>
  `coalesce(${parameter}::timestamptz, date_trunc('milliseconds', clock_timestamp()))`;

/** Its row has the current time. */
export const timeStatement = (parameter: Instant | null): Statement<{ now: Instant }> => ({
  name: 'read-time',
  text: `select ${currentTime('$1')} as now`,
  values: [parameter],
});

export const databaseTime: Time = Object.assign(
  async (db: Knex) => {
    const [row] = await query(db, timeStatement(null));
    return (row as { now: Instant }).now;
  },
  { parameter: () => null },
);

/** Reads a clock that a test controls. */
export const clockTime = (clock: Clock): Time =>
  Object.assign(async () => clock.now(), { parameter: () => clock.now() });
