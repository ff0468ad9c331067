import { eventually } from '@tocsin/testing';
import pg from 'pg';

/** Milliseconds that any task may take. */
export const WITHIN = 900_000;

/** Runs `work` in a session without deadlines. */
export async function withSql<Result>(url: string, work: (sql: pg.Client) => Promise<Result>): Promise<Result> {
  const sql = new pg.Client({ connectionString: url });
  await sql.connect();
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

/** The column `number` of one row. */
export async function numberOf(sql: pg.Client, text: string, values: readonly unknown[] = []): Promise<number> {
  const { rows } = await sql.query<{ number: number }>(text, [...values]);
  return rows[0]?.number ?? 0;
}

/** How many a second vanish of what a statement counts, from the first moment that there is less until the end. */
export async function rateOfEnd(sql: pg.Client, text: string, values: readonly unknown[] = []): Promise<number> {
  const first = await numberOf(sql, text, values);
  let since: { count: number; at: number } | undefined;
  return eventually(
    async () => {
      const at = performance.now();
      const count = await numberOf(sql, text, values);
      // Between the last two looks.
      if (count === first) since = { count, at };
      return count > 0 || since === undefined ? undefined : (since.count / (performance.now() - since.at)) * 1_000;
    },
    { within: WITHIN, what: 'an end of the rows' },
  );
}

/** Rows that the apps delete soon after their start. */
const EXPIRED = [
  `select count(*)::float8 as number from webhook.feed_events where recorded_at < $1::timestamptz - interval '30 days'`,
  `select count(*)::float8 as number from incident.idempotency_keys where claimed_at < $1::timestamptz - interval '1 day'`,
];

/** How fast the apps delete expired events, and expired keys. Begin before they start. */
export async function rateOfSweeps(sql: pg.Client): Promise<number[]> {
  const now = new Date();
  return Promise.all(EXPIRED.map(async (text) => rateOfEnd(sql, text, [now])));
}
