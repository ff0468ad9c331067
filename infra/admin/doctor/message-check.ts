import type { Knex } from '@tocsin/postgres';
import { retentionDays } from '../../../services/webhook/src/administration.ts';
import { APP_NAMES, type AppName } from '../../installation/apps.ts';
import { type Check, count, type Finding, ok, problem } from './check.ts';

/** Seconds that an event may wait in the outbox. A relay publishes within ten. */
const MAX_WAIT = 60;
/** Days that a sweep, which runs every hour, may be late. */
const GRACE_DAYS = 1;
/** Rows that are counted. */
const MAX_COUNTED = 10_000;

/** Looks for events that are not published, inboxes that are not swept, and dead letters in the databases. */
export const MESSAGE_CHECK: Check = {
  name: 'messages',
  run: async ({ database, env }) => {
    const findings: Finding[] = [];
    const inboxDays = retentionDays(env).inbox + GRACE_DAYS;
    for (const app of APP_NAMES) findings.push(...(await checkTables(app, { db: database(app), inboxDays })));
    return findings.length === 0 ? [ok('no event waits, and there are no dead letters in the databases')] : findings;
  },
};

async function checkTables(app: AppName, { db, inboxDays }: { db: Knex; inboxDays: number }): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { rows: tables } = await db.raw<{ rows: { name: string }[] }>(
    'select tablename as name from pg_tables where schemaname = current_schema()',
  );
  const has = (name: string) => tables.some((table) => table.name === name);
  if (has('outbox')) {
    const { rows } = await db.raw<{ rows: [{ seconds: number | null; waiting: number }] }>(
      `select extract(epoch from now() - min(created_at))::int as seconds, count(id) as waiting
       from (select id, created_at from outbox order by id limit ${MAX_COUNTED}) as oldest`,
    );
    const { seconds, waiting } = rows[0];
    if ((seconds ?? 0) > MAX_WAIT) {
      findings.push(
        problem(
          `${app}: ${atMost(waiting, 'event')} in the outbox, the oldest for ${seconds} s: does ${app} run, and the broker?`,
        ),
      );
    }
  }
  if (has('inbox')) {
    const { rows } = await db.raw<{ rows: { queue: string }[] }>(
      `select queue from inbox where received_at < now() - ? * interval '1 day' limit 1`,
      [inboxDays],
    );
    if (rows.length > 0) {
      findings.push(problem(`${app}: the inbox has rows of more than ${inboxDays} days: does ${app} run its sweeps?`));
    }
  }
  if (has('dead_letters')) {
    const { rows } = await db.raw<{ rows: [{ dead: number }] }>(
      `select count(*) as dead from (select 1 from dead_letters limit ${MAX_COUNTED}) as counted`,
    );
    const [{ dead }] = rows;
    if (dead > 0) {
      findings.push(problem(`${app}: ${atMost(dead, 'dead letter')}: look at them with dead-letters list and show`));
    }
  }
  return findings;
}

const atMost = (number: number, what: string) =>
  number === MAX_COUNTED ? `${MAX_COUNTED} or more ${what}s` : count(number, what);
