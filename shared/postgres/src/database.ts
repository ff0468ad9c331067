import type { Knex } from 'knex';
import { sharedLimits, unsharedLimits } from './connection-limits.ts';
import { UnusableSession } from './database-call-error.ts';
import { databaseHosts } from './database-hosts.ts';
import { DATABASE_DEADLINES, type DatabaseDeadlines } from './database-deadlines.ts';
import type { StatementClient } from './composing-client.ts';
import { knexOn } from './knex-client.ts';
import type { RowsOfEach, Statement, Statements } from './pipeline.ts';
import { Pool } from './pool.ts';
import { IDLE_TRANSACTION_TIMEOUT, KEEPALIVE_DELAY } from './session-settings.ts';
import { runOn } from './transaction.ts';

export type { Knex, Statement };

export interface DatabaseOptions {
  url: string;
  /** The connection's search path. */
  schema: string;
  /** Shown in `pg_stat_activity`. */
  application: string;
  poolSize: number;
  /** Whether the URL may be that of a pooler that gives each transaction another session (ADR 67). Default: no. */
  sharesSessions?: boolean;
  /** Whether requests of several workspaces use the pool, so that each may use only a share of it. Default: no. */
  shared?: boolean;
  /** Instead of the defaults. */
  deadlines?: Partial<DatabaseDeadlines>;
}

/**
 * Opens a connection pool on one service's schema, as knex that runs its statements there (`columnTypes`). A transaction
 * begins with its first statement, ends with the function that it is given to, and has no savepoints.
 */
export function openDatabase(options: DatabaseOptions): Knex {
  const deadlines = { ...DATABASE_DEADLINES, ...options.deadlines };
  const limits = options.shared === true ? sharedLimits(options.poolSize) : unsharedLimits(options.poolSize);
  const hosts = databaseHosts(options.url, {
    application_name: options.application,
    connectionTimeoutMillis: deadlines.connect,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
  });
  const session = {
    schema: options.schema,
    statementTimeout: deadlines.statement,
    idleTransactionTimeout: IDLE_TRANSACTION_TIMEOUT,
  };
  const { sharesSessions = false } = options;
  return knexOn(new Pool({ hosts, session, limits, deadlines, sharesSessions }));
}

/**
 * Runs one statement and returns its rows.
 * @param db may be a transaction; the statement is then part of it
 */
export async function query<Row>(db: Knex, statement: Statement<Row>): Promise<Row[]> {
  const [rows] = await pipeline<[Row]>(db, [statement]);
  return rows;
}

/**
 * Runs statements one after the other, in one round trip. In the isolation level READ COMMITTED each has a snapshot of its
 * own, so it sees what was committed before it began. If one fails, those after it are not executed. Returns the rows of
 * each.
 * @param db may be a transaction; the statements are then part of it. Otherwise they are a transaction of their own
 * @param options.commit commits the transaction in the same round trip; nothing may follow but the end of its function
 */
export async function pipeline<Rows extends readonly unknown[]>(
  db: Knex,
  statements: Statements<Rows>,
): Promise<RowsOfEach<Rows>>;
export async function pipeline<Rows extends readonly unknown[]>(
  trx: Knex.Transaction,
  statements: Statements<Rows>,
  options: { commit: boolean },
): Promise<RowsOfEach<Rows>>;
export async function pipeline<Rows extends readonly unknown[]>(
  db: Knex,
  statements: Statements<Rows>,
  options?: { commit: boolean },
): Promise<RowsOfEach<Rows>> {
  const client = db.client as StatementClient;
  const target = await client.acquireConnection({ proven: !statements.some(({ isPoll }) => isPoll === true) });
  try {
    const executed: Statement[] = [];
    for (const statement of statements) {
      if (statement.plannedForValues === true) executed.push(PLAN_FOR_VALUES);
      executed.push(statement.isComposed === true ? numbered(statement) : statement);
    }
    const rows: unknown[][] = [];
    for (const [index, result] of (await runOn(target, executed, options)).entries())
      if (executed[index] !== PLAN_FOR_VALUES) rows.push(result.rows);
    return rows as unknown as RowsOfEach<Rows>;
  } finally {
    await client.releaseConnection(target);
  }
}

const PLAN_FOR_VALUES: Statement = {
  name: 'plan-for-values',
  text: "select set_config('plan_cache_mode', 'force_custom_plan', true)",
};

/** How many texts of a composed statement are prepared: each connection keeps them for as long as it lives. */
const MAX_TEXTS = 32;

/** The names of the composed statements that are prepared, by their own name and their text. */
const numberedNames = new Map<string, Map<string, string>>();

/** A few of the texts are executed most of the time, so the first ones get a name. */
function numbered({ name = '', text, values = [] }: Statement): Statement {
  const names = numberedNames.get(name) ?? new Map<string, string>();
  numberedNames.set(name, names);
  if (names.size < MAX_TEXTS && !names.has(text)) names.set(text, `${name}-${names.size}`);
  const numberedName = names.get(text);
  return numberedName === undefined ? { text, values } : { name: numberedName, text, values };
}

/**
 * So that a process ends at its start whose sessions must not be used. One that cannot reach its database waits for it.
 * @throws UnusableSession
 */
export async function refuseUnusableSession(database: Knex): Promise<void> {
  try {
    await query(database, { text: 'select 1' });
  } catch (error) {
    if (error instanceof UnusableSession) throw error;
  }
}

/** Whether nothing has ended in the pool for a minute, although something was asked of it. */
export const isDatabaseStuck = (database: Knex): boolean =>
  (database.client as StatementClient).connections.watch.isStuck;

/** The name of the constraint that a statement violated; `undefined` if it failed for another reason. */
export function brokenConstraint(error: unknown): string | undefined {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string' ? constraint : undefined;
}
