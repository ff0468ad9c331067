import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import { instantFromPostgres } from './instant.ts';

export type { Knex };

export interface DatabaseOptions {
  url: string;
  /** The only schema this connection sees. */
  schema: string;
  /** Shown in `pg_stat_activity`. */
  application: string;
  poolSize: number;
  /** A statement that runs longer is cancelled by the server; milliseconds. */
  statementTimeout?: number;
}

const parsers = new pg.TypeOverrides();
// Every ID and count of ours is below 2^53.
parsers.setTypeParser(pg.types.builtins.INT8, Number);
parsers.setTypeParser(pg.types.builtins.TIMESTAMPTZ, instantFromPostgres);
parsers.setTypeParser(pg.types.builtins.DATE, (text: string) => text);

/**
 * All statements of ours are short, on data that is mostly in memory: a page out of turn costs hardly more than the next one,
 * and neither compiling a plan nor starting workers for it ever pays.
 */
const SESSION = '-c timezone=UTC -c random_page_cost=1.1 -c jit=off -c max_parallel_workers_per_gather=0';

/** A pool on one service's schema. `bigint` comes as a number and `timestamptz` as an `Instant`. */
export function openDatabase(options: DatabaseOptions): Knex {
  return knexFactory({
    client: 'pg',
    connection: {
      connectionString: options.url,
      application_name: options.application,
      connectionTimeoutMillis: 3_000,
      // A half-open connection after a failover must not hang a request.
      keepAlive: true,
      statement_timeout: options.statementTimeout ?? 10_000,
      idle_in_transaction_session_timeout: 30_000,
      options: SESSION,
      types: parsers,
    } as Knex.PgConnectionConfig,
    searchPath: [options.schema],
    acquireConnectionTimeout: 5_000,
    // Else it writes to the console, in no format of ours, what it throws as well.
    log: { warn: () => undefined, error: () => undefined },
    // The statement is part of an error's message, and so of log lines; what is bound to it must not be.
    compileSqlOnError: false,
    pool: { min: 0, max: options.poolSize, idleTimeoutMillis: 30_000 },
  });
}

interface PgConnection {
  query<Row>(statement: { name: string; text: string; values: unknown[] }): Promise<{ rows: Row[] }>;
}

/**
 * Runs a named prepared statement: planned once a connection, which is what the hot paths need.
 * `db` may be a transaction; the statement is then part of it.
 */
export async function named<Row>(db: Knex, name: string, text: string, values: unknown[]): Promise<Row[]> {
  const client = db.client as {
    acquireConnection(): Promise<PgConnection>;
    releaseConnection(c: PgConnection): Promise<void>;
  };
  const connection = await client.acquireConnection();
  try {
    return (await connection.query<Row>({ name, text, values })).rows;
  } finally {
    await client.releaseConnection(connection);
  }
}

/** The constraint that a failed statement broke, if that is why it failed. */
export function brokenConstraint(error: unknown): string | undefined {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string' ? constraint : undefined;
}

const CONNECTION_LOST = /^(08|57P0[1-5]|53[34]00|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)/;

/** The database cannot be reached now, as against having refused the statement: worth another try later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  // Not instanceof: a network error comes from Node itself, whose Error is another one than that of a test's sandbox.
  if (!Error.isError(error)) return false;
  const { code, name, message, errors } = error as Error & { code?: unknown; errors?: unknown };
  if (typeof code === 'string' && CONNECTION_LOST.test(code)) return true;
  if (Array.isArray(errors)) return errors.some(isDatabaseUnavailable);
  return (
    name === 'KnexTimeoutError' ||
    // knex puts the statement before the driver's words.
    /(^| - )(Connection terminated|timeout expired|Client has encountered a connection error|Unable to acquire a connection)/.test(
      message,
    )
  );
}
