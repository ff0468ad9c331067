import pg from 'pg';
import { UnusableSession } from './database-call-error.ts';
import { DATABASE_DEADLINES } from './database-deadlines.ts';
import { openMigrationSession } from './migration-connection.ts';
import { checkPooler, READ_ONLY, run, standby } from './session.ts';
import {
  DURABLE,
  type HostConfig,
  IDLE_TRANSACTION_TIMEOUT,
  MEANING,
  REQUIRED,
  type SessionOptions,
  sessionSettings,
} from './session-settings.ts';

const PREPARED = 'tocsin-prepared';

/** A pooler that keeps prepared statements gives them names of its own. */
const IS_RENAMED = `
  select pg_catalog.pg_backend_pid() as pid,
    not exists (select from pg_catalog.pg_prepared_statements where name = '${PREPARED}') as renamed`;

/** What settings are, and how PostgreSQL writes what they must be, which is set for this statement only. */
const COMPARE = `
  with present as materialized (
    select name, value, pg_catalog.current_setting(name, true) as present
    from unnest($1::text[], $2::text[]) as setting (name, value)
  )
  select name, present, case
    when name = any ($3::text[]) then value
    when present is not null then pg_catalog.set_config(name, value, true)
  end as expected
  from present`;

/** The settings of an app's role. What a pool or a readiness check would set otherwise, its own timers do. */
const settingsOfRole = (schema: string): Record<string, string> =>
  sessionSettings({
    config: { mustTakeWrites: false },
    schema,
    statementTimeout: DATABASE_DEADLINES.statement,
    idleTransactionTimeout: IDLE_TRANSACTION_TIMEOUT,
  });

/** Those without which a session is refused; the others only cost time. */
const CHECKED = [...Object.keys(MEANING), 'search_path', 'statement_timeout', 'idle_in_transaction_session_timeout'];

/**
 * Checks what a connection gets whose pooler may give it another session with each transaction: transactions, prepared
 * statements and the settings of its role (`setRoleSettings`). Sets nothing, because that would be for one session only.
 * @throws UnusableSession
 */
export async function checkPooledSession(client: pg.Client, { config, schema = '' }: SessionOptions): Promise<void> {
  await checkPooling(client, config);
  // Cannot be set in a session.
  const fixed = { ...REQUIRED, ...(config.mustTakeWrites && { [READ_ONLY]: 'off' }) };
  const settings = new Map(Object.entries({ ...settingsOfRole(schema), ...fixed }));
  const names = [...CHECKED, ...Object.keys(fixed)];
  const values = [names, names.map((name) => settings.get(name)), Object.keys(fixed)];
  const rows = await run<{ name: string; present: string | null; expected: string }>(client, COMPARE, values);
  for (const { name, present, expected } of rows) {
    if (present === null || present === expected) continue;
    if (name === READ_ONLY) throw standby(client);
    if (name === 'synchronous_commit' && DURABLE.includes(present)) continue;
    throw new UnusableSession(
      `the setting ${name} of the role ${client.user} is ${present}, and must be ${expected}: run the migrations with ` +
        'DATABASE_SESSION_URL, then have the pooler open new sessions (RECONNECT). Each app needs a role of its own',
    );
  }
}

/** The poolers that are known to keep transactions and prepared statements. */
const checkedPoolers = new Set<string>();

/** @throws UnusableSession */
async function checkPooling(client: pg.Client, config: HostConfig): Promise<void> {
  const pooler = [client.host, client.port, client.database, client.user].join(' ');
  if (checkedPoolers.has(pooler)) return;
  const { pid, renamed } = await runInTransaction(client);
  const { processID: clientPid } = client as unknown as { processID: number | null };
  // Otherwise it is a pooler that gives each client a session, or the wrong one.
  if (!renamed && pid !== clientPid) {
    await checkPooler(client, config).catch((error: unknown) => {
      throw error instanceof UnusableSession ? forgetful() : error;
    });
  }
  checkedPoolers.add(pooler);
}

/** Runs a prepared statement in a transaction of several round trips. @throws UnusableSession */
async function runInTransaction(client: pg.Client) {
  try {
    await run(client, 'begin');
    const [first] = await run<{ pid: number }>(client, 'select pg_catalog.pg_backend_pid() as pid');
    const [second] = await run<{ pid: number; renamed: boolean }>(client, IS_RENAMED, [], PREPARED);
    await run(client, 'commit');
    if (second === undefined || first?.pid !== second.pid) throw withoutTransactions();
    return second;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (error.code === DUPLICATE) throw forgetful();
    throw error.message.includes('statement pooling mode') ? withoutTransactions() : error;
  }
}

/** An earlier client has prepared it in the same session. */
const DUPLICATE = '42P05';

const forgetful = () =>
  new UnusableSession(
    'the connection pooler shares sessions and does not keep prepared statements: its transaction mode needs ' +
      'PgBouncer 1.21 or later, and max_prepared_statements above 0',
  );

const withoutTransactions = () =>
  new UnusableSession(
    'the connection pooler shares sessions within a transaction: Tocsin needs its transaction mode (pool_mode = ' +
      'transaction) or its session mode',
  );

/**
 * Makes the settings that the code relies on those of the role of `url` in its database, so that the sessions of a pooler
 * begin with them. Returns whether one was another.
 * @param owner.url a direct connection, as the role of the app
 */
export async function setRoleSettings({ url, schema }: { url: string; schema: string }): Promise<boolean> {
  const client = await openMigrationSession(url);
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [`tocsin-role-settings-${schema}`]);
    const settings = Object.entries(settingsOfRole(schema));
    // What the operator may choose is as `openMigrationSession` leaves it.
    const applied = settings.filter(([name]) => name !== 'synchronous_commit');
    await client.query(
      `select set_config(name, value, false) from unnest($1::text[], $2::text[]) as setting (name, value)
        where current_setting(name, true) is not null`,
      [applied.map(([name]) => name), applied.map(([, value]) => value)],
    );
    const { rows } = await client.query<{ name: string; database: string }>(
      `select name, current_database() as database from pg_settings where name = any ($1) and setting <> reset_val`,
      [settings.map(([name]) => name)],
    );
    for (const { name, database } of rows) {
      await client.query(
        `alter role current_user in database ${pg.escapeIdentifier(database)} set ${pg.escapeIdentifier(name)} from current`,
      );
    }
    return rows.length > 0;
  } finally {
    await client.end();
  }
}
