import type { Clock, Instant, Knex } from '@tocsin/runtime';

/** Returns the current time. All replicas use the database's clock, so that they agree on when deliveries are due. */
export type Time = (db: Knex) => Promise<Instant>;

export const databaseTime: Time = async (db) => {
  // Truncated, as JavaScript clocks are; a cast to three decimals would round.
  const { rows } = await db.raw<{ rows: [{ now: Instant }] }>(
    `select date_trunc('milliseconds', clock_timestamp()) as now`,
  );
  return rows[0].now;
};

/** Reads a clock that a test controls. */
export const clockTime =
  (clock: Clock): Time =>
  async () =>
    clock.now();
