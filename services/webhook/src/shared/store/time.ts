/**
 * `shared` has the time of the webhook service. All processes use the clock of the database, so that they agree on when
 * a delivery is due, a lease ends and a minute of a limit begins, however the clocks of their machines differ. A
 * statement that needs the time reads it itself by `currentTime`, which saves a round trip; `databaseTime` reads it
 * alone. Tests give a clock of their own, whose time is then a parameter of the same statements. Times are cut to
 * milliseconds, as those of JavaScript are. Which incidents a webhook receives depends on their numbers, and on clocks
 * only where a number is missing (contract: Deliveries) (ADR 16).
 */
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Clock, Instant } from '@tocsin/runtime';

/** Returns the current time. */
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
