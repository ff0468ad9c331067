import knexFactory, { type Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import pg from 'pg';
import { databaseFailure, recordFailures } from './database-failure.ts';
import { instantFromPostgres } from './instant.ts';

export type { Knex };

export interface DatabaseOptions {
  url: string;
  /** The connection's search path. */
  schema: string;
  /** Shown in `pg_stat_activity`. */
  application: string;
  poolSize: number;
  /** A statement that runs longer is cancelled by the server; milliseconds. */
  statementTimeout?: number;
}

const parsers = new pg.TypeOverrides();
// All IDs and counts are below 2^53.
parsers.setTypeParser(pg.types.builtins.INT8, Number);
parsers.setTypeParser(pg.types.builtins.TIMESTAMPTZ, instantFromPostgres);
parsers.setTypeParser(pg.types.builtins.DATE, (text: string) => text);

/**
 * Statements are short and their data is mostly in memory: a random page costs little more than a sequential one, and
 * JIT compilation and parallel workers cost more than they save.
 */
const SESSION = '-c timezone=UTC -c random_page_cost=1.1 -c jit=off -c max_parallel_workers_per_gather=0';

/** Records the errors of database calls, and removes connections that are stuck on an old primary from the pool. */
class RecordingClient extends PostgresClient {
  override async acquireConnection(): Promise<unknown> {
    return recordFailures('connecting', async () => super.acquireConnection());
  }

  override async _query(connection: unknown, statement: unknown): Promise<unknown> {
    return onConnection(connection, async () => super._query(connection, statement));
  }
}

async function onConnection<Result>(connection: unknown, call: () => Promise<Result>): Promise<Result> {
  try {
    return await recordFailures('connected', call);
  } catch (error) {
    // After a failover the session may continue on a server that is now read-only. A new one can reach the primary.
    if (databaseFailure(error) === 'unable') (connection as { __knex__disposed?: unknown }).__knex__disposed = error;
    throw error;
  }
}

/** Opens a connection pool on one service's schema. `bigint` is read as a number and `timestamptz` as an `Instant`. */
export function openDatabase(options: DatabaseOptions): Knex {
  return knexFactory({
    client: RecordingClient,
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
    // knex would print to the console what it also throws.
    log: { warn: () => undefined, error: () => undefined },
    // Error messages contain the statement and are logged; its parameters must not be.
    compileSqlOnError: false,
    pool: { min: 0, max: options.poolSize, idleTimeoutMillis: 30_000 },
  });
}

interface PgConnection {
  query<Row>(statement: { name: string; text: string; values: unknown[] }): Promise<{ rows: Row[] }>;
}

/**
 * Runs a named prepared statement, which Postgres parses once per connection. For the statements that run most often.
 * @param db may be a transaction; the statement is then part of it
 */
export async function runPrepared<Row>(db: Knex, name: string, text: string, values: unknown[]): Promise<Row[]> {
  const client = db.client as {
    acquireConnection(): Promise<PgConnection>;
    releaseConnection(c: PgConnection): Promise<void>;
  };
  const connection = await client.acquireConnection();
  try {
    return (await onConnection(connection, async () => connection.query<Row>({ name, text, values }))).rows;
  } finally {
    await client.releaseConnection(connection);
  }
}

/** The name of the constraint that a statement violated; `undefined` if it failed for another reason. */
export function brokenConstraint(error: unknown): string | undefined {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string' ? constraint : undefined;
}
