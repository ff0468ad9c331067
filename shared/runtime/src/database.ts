import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import { sharedLimits, unsharedLimits } from './connection-shares.ts';
import { DATABASE_DEADLINES, type DatabaseDeadlines } from './database-deadlines.ts';
import { instantFromPostgres } from './instant.ts';
import { PooledClient, type PooledConfig, runStatement } from './pooled-client.ts';
import type { PooledConnection } from './pooled-connection.ts';

export type { Knex };

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

const parsers = new pg.TypeOverrides();
// All IDs and counts are below 2^53.
parsers.setTypeParser(pg.types.builtins.INT8, Number);
parsers.setTypeParser(pg.types.builtins.TIMESTAMPTZ, instantFromPostgres);
parsers.setTypeParser(pg.types.builtins.DATE, (text: string) => text);

/**
 * Statements are short and their data is mostly in memory: a random page costs little more than a sequential one, and
 * JIT compilation and parallel workers cost more than they save.
 */
const PLANNING = '-c random_page_cost=1.1 -c jit=off -c max_parallel_workers_per_gather=0';

/** So that the server ends sessions of a client that has vanished: after 45 seconds. */
const SERVER_KEEPALIVE =
  '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=45000';

/** A setting's value in the options of a connection, where spaces separate options. */
const optionValue = (value: string) => value.replaceAll(/[\\\s]/g, String.raw`\$&`);

const sessionOptions = (schema: string) =>
  `-c timezone=UTC -c search_path=${optionValue(pg.escapeIdentifier(schema))} ${PLANNING} ${SERVER_KEEPALIVE}`;

/** Milliseconds of silence before the system asks whether the other side of a connection is still there. */
const KEEPALIVE_DELAY = 5_000;

/** Opens a connection pool on one service's schema. `bigint` is read as a number and `timestamptz` as an `Instant`. */
export function openDatabase(options: DatabaseOptions): Knex {
  const deadlines = { ...DATABASE_DEADLINES, ...options.deadlines };
  const limits = options.shared === true ? sharedLimits(options.poolSize) : unsharedLimits(options.poolSize);
  const config: PooledConfig = {
    client: PooledClient,
    connection: {
      connectionString: options.url,
      application_name: options.application,
      connectionTimeoutMillis: deadlines.connect,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
      statement_timeout: deadlines.statement,
      idle_in_transaction_session_timeout: 30_000,
      options: sessionOptions(options.schema),
      types: parsers,
    } as Knex.PgConnectionConfig,
    pooling: { limits, deadlines },
    // A proof that an unused connection works may precede the attempt to open another one.
    acquireConnectionTimeout: deadlines.proof + deadlines.connect + 1_000,
    // knex would print to the console what it also throws.
    log: { warn: () => undefined, error: () => undefined },
    // Error messages contain the statement and are logged; its parameters must not be.
    compileSqlOnError: false,
    pool: { min: 0, max: options.poolSize, idleTimeoutMillis: 30_000, createTimeoutMillis: deadlines.connect + 1_000 },
  };
  return knexFactory(config);
}

/**
 * Runs a named prepared statement, which Postgres parses once per connection. For the statements that run most often.
 * @param db may be a transaction; the statement is then part of it
 */
export async function runPrepared<Row extends pg.QueryResultRow>(
  db: Knex,
  name: string,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  const client = db.client as PooledClient;
  const connection: PooledConnection = await client.acquireConnection();
  try {
    const statement = { sql: text, name };
    const { rows } = await runStatement(connection, statement, async () =>
      connection.query<Row>({ name, text, values }),
    );
    return rows;
  } finally {
    await client.releaseConnection(connection);
  }
}

/** Whether nothing has ended in the pool for a minute, although something was asked of it. */
export const isDatabaseStuck = (database: Knex): boolean => (database.client as PooledClient).watch.isStuck;

/** The name of the constraint that a statement violated; `undefined` if it failed for another reason. */
export function brokenConstraint(error: unknown): string | undefined {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string' ? constraint : undefined;
}
