import type { Knex } from '@tocsin/postgres';
import { APP_NAMES } from '../../installation/apps.ts';
import { type Check, type CheckContext, type Finding, note, ok, problem } from './check.ts';
import { withDoctorRedis } from './redis.ts';

/** Milliseconds. Principals are valid for half a minute, and leases for a similar time. */
const MAX_SKEW = 2_000;

/** Compares the clocks of the servers with that of this machine. */
export const CLOCK_CHECK: Check = {
  name: 'clocks',
  run: async (context) => {
    const findings: Finding[] = [];
    let largest = 0;
    const compare = async (what: string, read: () => Promise<number>) => {
      const before = Date.now();
      const time = await read();
      const after = Date.now();
      // The server read its clock at some time in between.
      const skew = time < before ? time - before : time > after ? time - after : 0;
      largest = Math.max(largest, Math.abs(skew));
      if (Math.abs(skew) <= MAX_SKEW) return;
      const direction = skew < 0 ? 'behind' : 'ahead of';
      findings.push(
        problem(`the clock of ${what} is ${Math.abs(skew)} ms ${direction} this machine: synchronise them`),
      );
    };
    for (const app of APP_NAMES)
      await compare(`the database of ${app}`, async () => databaseTime(context.database(app)));
    const redis = await compareRedis(context, compare);
    if (findings.length === 0) findings.push(ok(`no clock differs by more than ${largest} ms`));
    return redis === undefined ? findings : [...findings, redis];
  },
};

async function databaseTime(database: Knex): Promise<number> {
  const { rows } = await database.raw<{ rows: [{ now: number }] }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
  );
  return rows[0].now;
}

async function compareRedis(
  context: CheckContext,
  compare: (what: string, read: () => Promise<number>) => Promise<void>,
): Promise<Finding | undefined> {
  const outcome = await withDoctorRedis(context, async (redis) =>
    compare('Redis', async () => {
      const [seconds, microseconds] = await redis.time();
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    }),
  );
  return outcome.kind === 'none' ? note(outcome.reason) : outcome.kind === 'failed' ? outcome.finding : undefined;
}
