import pg from 'pg';
import { DatabaseCallError, UnusableSession } from './database-call-error.ts';
import type { DatabaseHosts } from './database-hosts.ts';
import { DURABLE, type HostConfig, REQUIRED, type SessionOptions, sessionSettings } from './session-settings.ts';

/** For each statement that prepares a session, and for its end. Milliseconds. */
const TIMEOUT = 3_000;

/** Names with their schema: the search path may be anybody's. */
const PID = 'select pg_catalog.pg_backend_pid() as pid';

/**
 * A setting that this version of the server does not know has no value. Without rows, the session is not the given one.
 * Commits that are not durable are what the connection itself asked for (`?options=-c synchronous_commit=off`), or no
 * one's intention.
 */
const APPLY = `
  select name, pg_catalog.set_config(name, case
    when name = 'synchronous_commit' and (
      pg_catalog.current_setting(name) = any ($3::text[])
      or exists (select from pg_catalog.pg_settings s where s.name = 'synchronous_commit' and s.source = 'client')
    ) then pg_catalog.current_setting(name) else value end, false) as value
  from unnest($1::text[], $2::text[]) as setting (name, value)
  where pg_catalog.current_setting(name, true) is not null
    and ($4::int is null or pg_catalog.pg_backend_pid() = $4)`;

const READ = `
  select name, pg_catalog.current_setting(name, true) as value, pg_catalog.pg_backend_pid() as pid
  from unnest($1::text[]) as name`;

/** On for each transaction of a standby. */
export const READ_ONLY = 'transaction_read_only';

interface Setting {
  name: string;
  value: string | null;
}

/**
 * Opens a session of its own, with the settings that the code relies on. The caller ends it. An error of the connection
 * fails the statement that is running.
 * @throws UnusableSession
 */
export const openSession = async (hosts: DatabaseHosts): Promise<pg.Client> =>
  hosts.connect(async (config) => {
    const client = new pg.Client(config);
    // Without a listener it would also be an uncaught exception.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await prepareSession(client, { config });
      return client;
    } catch (error) {
      void endSession(client);
      throw error;
    }
  });

/** Ends a session, or destroys the connection of a server that does not respond. */
export async function endSession(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), TIMEOUT);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}

/**
 * Makes the settings of a session that has just begun those that the code relies on, as statements: a connection pooler
 * refuses or drops most of what a connection asks for at its beginning.
 * @throws UnusableSession
 */
export async function prepareSession(client: pg.Client, options: SessionOptions): Promise<void> {
  const settings = sessionSettings(options);
  const { processID: clientPid } = client as unknown as { processID: number | null };
  let pid = clientPid;
  let applied = await apply(client, settings, clientPid ?? 0);
  if (applied.length === 0) {
    // A pooler gives its clients a number of its own instead of the server's.
    pid = await checkPooler(client, options.config);
    // What the previous client has left: prepared statements, locks, channels.
    await run(client, 'discard all');
    applied = await apply(client, settings, null);
  }
  const expected = new Map([...applied.map(({ name, value }) => [name, value] as const), ...Object.entries(REQUIRED)]);
  if (options.config.mustTakeWrites) expected.set(READ_ONLY, 'off');
  for (const row of await run<Setting & { pid: number }>(client, READ, [[...expected.keys()]])) {
    if (row.pid !== pid) throw sharedSession();
    const value = expected.get(row.name);
    if (row.name === READ_ONLY && row.value !== value) throw standby(client);
    if (row.value !== value) {
      throw new UnusableSession(`the setting ${row.name} of the database is ${row.value}, and must be ${value}`);
    }
  }
}

export const standby = ({ host, port }: pg.Client) =>
  new DatabaseCallError('unable', `${host}:${port} takes no writes: it is a standby`);

/** Looks at two connections: while another client uses the session of one, they may seem to have two. */
const LOOKS = 8;

/** The poolers that are known to give each client a session. */
const checkedPoolers = new Set<string>();

/**
 * Connects a second time while the first connection has nothing to do: a pooler that shares sessions then uses the same
 * one again, or another one for the first client.
 * @returns the number of the server's session
 * @throws UnusableSession
 */
export async function checkPooler(client: pg.Client, config: HostConfig): Promise<number> {
  const pid = await pidOf(client);
  if ((await pidOf(client)) !== pid) throw sharedSession();
  const pooler = [client.host, client.port, client.database, client.user].join(' ');
  if (checkedPoolers.has(pooler)) return pid;
  const other = new pg.Client(config);
  other.on('error', () => undefined);
  try {
    await other.connect();
    for (let look = 0; look < LOOKS; look += 1)
      if ((await pidOf(other)) === pid || (await pidOf(client)) !== pid) throw sharedSession();
  } catch (error) {
    if (error instanceof UnusableSession) throw error;
    const message =
      'the connection pooler gives no second session: its pool must have one for each connection of Tocsin';
    throw new DatabaseCallError('unable', `${message} (${(error as Error).message})`, { cause: error });
  } finally {
    void endSession(other);
  }
  checkedPoolers.add(pooler);
  return pid;
}

const sharedSession = () =>
  new UnusableSession(
    'the connection pooler shares sessions among its clients: Tocsin needs its session mode (pool_mode = session), ' +
      'because advisory locks, notifications and prepared statements belong to a session. ' +
      'With DATABASE_SESSION_URL its transaction mode will do',
  );

const pidOf = async (client: pg.Client): Promise<number> => (await run<{ pid: number }>(client, PID))[0]?.pid ?? 0;

const apply = async (client: pg.Client, settings: Readonly<Record<string, string>>, pid: number | null) =>
  run<Setting>(client, APPLY, [Object.keys(settings), Object.values(settings), DURABLE, pid]);

/** Runs a statement that prepares a session. */
export async function run<Row extends pg.QueryResultRow>(
  client: pg.Client,
  text: string,
  values: unknown[] = [],
  name?: string,
): Promise<Row[]> {
  // Its types lack the time limit of a single statement.
  const statement = { text, values, query_timeout: TIMEOUT, ...(name !== undefined && { name }) };
  return (await client.query<Row>(statement)).rows;
}
