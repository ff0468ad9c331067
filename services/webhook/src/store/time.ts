import { type Clock, type Instant, type Knex, runPrepared } from '@tocsin/runtime';

/** Returns the current time. All replicas use the database's clock, so that they agree on when deliveries are due. */
export type ReadTime = (db: Knex) => Promise<Instant>;

export interface Time extends ReadTime {
  /** For a statement that contains `NOW` and so reads the time itself. */
  parameter: () => Instant | null;
}

/**
 * The current time in a statement whose first parameter is `time.parameter()`. Truncated, as JavaScript clocks are; a cast
 * to three decimals would round.
 */
export const NOW = `coalesce($1::timestamptz, date_trunc('milliseconds', clock_timestamp()))`;

export const databaseTime: Time = Object.assign(
  async (db: Knex) => {
    const [row] = await runPrepared<{ now: Instant }>(db, 'read-time', `select ${NOW} as now`, [null]);
    return (row as { now: Instant }).now;
  },
  { parameter: () => null },
);

/** Reads a clock that a test controls. */
export const clockTime = (clock: Clock): Time =>
  Object.assign(async () => clock.now(), { parameter: () => clock.now() });
