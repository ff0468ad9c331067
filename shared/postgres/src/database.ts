import type { Knex } from 'knex';
import type pg from 'pg';
import { sharedLimits, unsharedLimits } from './connection-limits.ts';
import { connectionOf } from './connection-url.ts';
import { DATABASE_DEADLINES, type DatabaseDeadlines } from './database-deadlines.ts';
import { type KnexClient, knexOn, type StatementClient } from './knex-client.ts';
import type { PreparedStatement, PreparedStatements, RowsOfEach } from './pipeline.ts';
import { Pool } from './pool.ts';
import { UnusableSession } from './session.ts';
import { KEEPALIVE_DELAY, type SessionOptions } from './session-settings.ts';
import { runOn } from './transaction.ts';

export type { Knex, PreparedStatement };

export interface DatabaseOptions {
  url: string;
  /** The connection's search path. */
  schema: string;
  /** Shown in `pg_stat_activity`. */
  application: string;
  poolSize: number;
  /** Whether requests of several workspaces use the pool, so that each may use only a share of it. Default: no. */
  shared?: boolean;
  /** Instead of the defaults. */
  deadlines?: Partial<DatabaseDeadlines>;
}

/** Milliseconds. */
const IDLE_TRANSACTION_TIMEOUT = 30_000;

/**
 * Opens a connection pool on one service's schema, as knex that runs its statements there (`columnTypes`). A transaction
 * begins with its first statement, ends with the function that it is given to, and has no savepoints.
 */
export function openDatabase(options: DatabaseOptions): Knex {
  const deadlines = { ...DATABASE_DEADLINES, ...options.deadlines };
  const limits = options.shared === true ? sharedLimits(options.poolSize) : unsharedLimits(options.poolSize);
  const config: pg.ClientConfig = {
    ...connectionOf(options.url),
    application_name: options.application,
    connectionTimeoutMillis: deadlines.connect,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
  };
  const session: SessionOptions = {
    config,
    schema: options.schema,
    statementTimeout: deadlines.statement,
    idleTransactionTimeout: IDLE_TRANSACTION_TIMEOUT,
  };
  return knexOn({ connections: new Pool({ session, limits, deadlines }) });
}

/**
 * Runs a named prepared statement, which Postgres parses once per connection. For the statements that run most often.
 * @param db may be a transaction; the statement is then part of it
 */
export async function runPrepared<Row>(db: Knex, name: string, text: string, values: unknown[]): Promise<Row[]> {
  const [rows] = await runAll(db, [{ name, text, values }]);
  return rows as Row[];
}

/**
 * Runs a prepared statement that only reads, and that its caller repeats if it fails. Its connection need not prove that it
 * works before (ADR 24): the statement proves as much, and a system at rest executes half as many.
 */
export async function poll<Row>(db: Knex, name: string, text: string, values: unknown[]): Promise<Row[]> {
  const { connections } = db.client as KnexClient;
  const connection = await connections.acquire({ proven: false });
  try {
    const [result] = await runOn(connection, [{ name, text, values }]);
    return (result?.rows ?? []) as Row[];
  } finally {
    connections.release(connection);
  }
}

/**
 * Runs statements one after the other, in one round trip. In the isolation level READ COMMITTED each has a snapshot of its
 * own, so it sees what was committed before it began. If one fails, those after it are not executed. Returns the rows of
 * each.
 * @param db may be a transaction; the statements are then part of it. Otherwise they are a transaction of their own
 */
export const runPipeline = async <Rows extends readonly unknown[]>(
  db: Knex,
  statements: PreparedStatements<Rows>,
): Promise<RowsOfEach<Rows>> => (await runAll(db, statements)) as RowsOfEach<Rows>;

/**
 * Runs the last statements of a transaction like `runPipeline`, and commits it in the same round trip. Nothing may follow
 * but the end of the transaction's function.
 */
export const commitPipeline = async <Rows extends readonly unknown[]>(
  trx: Knex.Transaction,
  statements: PreparedStatements<Rows>,
): Promise<RowsOfEach<Rows>> => (await runAll(trx, statements, { commit: true })) as RowsOfEach<Rows>;

async function runAll(
  db: Knex,
  statements: readonly PreparedStatement[],
  options?: { commit: boolean },
): Promise<unknown[][]> {
  const client = db.client as StatementClient;
  const target = await client.acquireConnection();
  try {
    return (await runOn(target, statements, options)).map(({ rows }) => rows);
  } finally {
    await client.releaseConnection(target);
  }
}

/** Runs a statement that is not worth preparing, with `$1` and so on for its values. Takes less time than `db.raw`. */
export const runOnce = async <Row>(db: Knex, text: string, values: unknown[]): Promise<Row[]> =>
  runPrepared<Row>(db, '', text, values);

/** Each connection keeps a prepared statement for as long as it lives. */
const MAX_TEXTS = 32;

/**
 * For statements that code composes, and of whose texts a few are executed most of the time. Returns a function that
 * names a statement if its text is one of the first that it got.
 * @param name of the prepared statements, which get numbers
 */
export function namesFirst(name: string): (text: string, values: unknown[]) => PreparedStatement {
  const names = new Map<string, string>();
  return (text, values) => {
    if (names.size < MAX_TEXTS && !names.has(text)) names.set(text, `${name}-${names.size}`);
    return { name: names.get(text) ?? '', text, values };
  };
}

/** Like `namesFirst`, but runs the statement: like `runPrepared` if it has a name, and else like `runOnce`. */
export function preparesFirst(name: string) {
  const named = namesFirst(name);
  return async <Row>(db: Knex, text: string, values: unknown[]): Promise<Row[]> =>
    runPrepared<Row>(db, named(text, values).name, text, values);
}

/**
 * So that a process ends at its start whose sessions must not be used. One that cannot reach its database waits for it.
 * @throws UnusableSession
 */
export async function refuseUnusableSession(database: Knex): Promise<void> {
  try {
    await database.raw('select 1');
  } catch (error) {
    if (error instanceof UnusableSession) throw error;
  }
}

/** Whether nothing has ended in the pool for a minute, although something was asked of it. */
export const isDatabaseStuck = (database: Knex): boolean => (database.client as KnexClient).connections.watch.isStuck;

/** The name of the constraint that a statement violated; `undefined` if it failed for another reason. */
export function brokenConstraint(error: unknown): string | undefined {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string' ? constraint : undefined;
}
