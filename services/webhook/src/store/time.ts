import type { Clock, Instant, Knex } from '@tocsin/runtime';

/** The present. Deliveries are timed by one clock, the database's, whichever replica looks at it. */
export type Time = (db: Knex) => Promise<Instant>;

export const databaseTime: Time = async (db) => {
  // Cut, as the other clocks are, where a cast to three decimals would round.
  const { rows } = await db.raw<{ rows: [{ now: Instant }] }>(
    `select date_trunc('milliseconds', clock_timestamp()) as now`,
  );
  return rows[0].now;
};

/** A clock that a test moves. */
export const timeOf =
  (clock: Clock): Time =>
  async () =>
    clock.now();
