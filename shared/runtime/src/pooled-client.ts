import type { Knex } from 'knex';
import type pg from 'pg';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import { ConnectionShares, type ShareLimits, type ShareRefusal } from './connection-shares.ts';
import type { DatabaseDeadlines } from './database-deadlines.ts';
import { databaseFailure, isOutcomeUnknown, recordFailures, recordUnknownOutcome } from './database-failure.ts';
import { DatabaseCallError, type DatabaseFailure } from './database-call-error.ts';
import { DirectQuery, type PreparedStatement } from './direct-query.ts';
import { type CancelReason, type OpenTransaction, PooledConnection } from './pooled-connection.ts';
import { markFailed } from './spans.ts';
import { startStatementSpan, summaryOf } from './statement-spans.ts';
import { type AbandonReason, explainFailure, StatementWatch } from './statement-watch.ts';
import { currentRequest, isInTransaction, runInBackground, runInTransaction } from './work-context.ts';

/** knex's configuration with what `PooledClient` needs in addition. */
export interface PooledConfig extends Knex.Config {
  pooling: { limits: ShareLimits; deadlines: DatabaseDeadlines };
}

/** What a pool has counted since its start. */
export interface PoolCounts {
  /** Failed statements, by reason. */
  failed: Record<StatementFailure, number>;
  /** Refused connections, by reason. */
  refused: Record<ShareRefusal, number>;
  /** Cancelled statements, by reason. */
  cancelled: Record<CancelReason, number>;
  /** Connections that this process has destroyed, by reason. */
  abandoned: Record<AbandonReason, number>;
}

/** `disk_full`: the server cannot write; all others are `DatabaseFailure`. */
type StatementFailure = DatabaseFailure | 'disk_full';
const DISK_FULL = '53100';

const NO_FAILURES: Readonly<Record<StatementFailure, number>> = {
  disk_full: 0,
  unreachable: 0,
  unable: 0,
  conflict: 0,
  timeout: 0,
  refused: 0,
  busy: 0,
  share_exceeded: 0,
  abandoned: 0,
};

/** For a connection to end its session; then it is destroyed. Milliseconds. */
const CLOSE_TIMEOUT = 1_000;

/** What statements on a connection report to. */
const pools = new WeakMap<PooledConnection, { watch: StatementWatch; counts: PoolCounts }>();

/**
 * knex's client with connections that are divided among workspaces, and with a deadline for each wait. knex's own
 * transactions have a client that inherits these methods but not the properties, so a statement finds them by its
 * connection.
 */
export class PooledClient extends PostgresClient {
  readonly shares: ConnectionShares;
  readonly watch: StatementWatch;
  readonly counts: PoolCounts = {
    failed: { ...NO_FAILURES },
    refused: { share: 0, pool: 0, client_gone: 0 },
    cancelled: { timeout: 0, client_gone: 0 },
    abandoned: { statement: 0, server: 0, unused: 0 },
  };

  constructor(config: PooledConfig) {
    super(config);
    const { limits, deadlines } = config.pooling;
    this.watch = new StatementWatch({
      deadlines,
      waiting: () => this.shares.waiting,
      onLook: () => this.shares.refuseOverdue(),
      onCancel: (reason) => (this.counts.cancelled[reason] += 1),
      onServerGone: () => this.#refuseWaiting('the database server does not respond'),
      onAbandon: (reason) => (this.counts.abandoned[reason] += 1),
    });
    this.shares = new ConnectionShares({
      limits,
      now: this.watch.now,
      isServing: () => this.watch.isServing,
      onRefusal: (reason) => (this.counts.refused[reason] += 1),
    });
  }

  #refuseWaiting(message: string): void {
    this.shares.refuseAll(() => new DatabaseCallError('unreachable', message));
  }

  override async acquireRawConnection(): Promise<PooledConnection> {
    // The sockets outlive the request that happens to need the first connection.
    return runInBackground(async () => {
      const connection = new PooledConnection(this.connectionSettings);
      await connection.connect();
      pools.set(connection, { watch: this.watch, counts: this.counts });
      this.watch.connected(connection);
      return connection;
    });
  }

  override async destroyRawConnection(connection: PooledConnection): Promise<void> {
    await connection.close(CLOSE_TIMEOUT);
  }

  override async validateConnection(connection: PooledConnection): Promise<boolean> {
    return runInBackground(async () => this.watch.proves(connection));
  }

  override async acquireConnection(): Promise<PooledConnection> {
    this.watch.demand();
    const taken = this.shares.take(currentRequest(), { nested: isInTransaction(this) });
    const permit = taken instanceof Promise ? await taken : taken;
    try {
      const connection = (await recordFailures('connecting', async () =>
        super.acquireConnection(),
      )) as PooledConnection;
      connection.permit = permit;
      return connection;
    } catch (error) {
      permit.release();
      this.watch.progress();
      // The others would wait for the same connection attempts.
      if (databaseFailure(error) === 'unreachable') this.#refuseWaiting('cannot connect to the database');
      throw error;
    }
  }

  override async releaseConnection(connection: PooledConnection): Promise<void> {
    const { permit } = connection;
    connection.permit = undefined;
    connection.transaction = undefined;
    // knex gives up a ROLLBACK that takes long or fails; the next user must not get its transaction.
    if (connection.statements.size > 0) connection.abandon('the connection was released during a statement');
    else if (connection.getTransactionStatus() !== 'I') connection.doNotReuse('a transaction is open');
    await super.releaseConnection(connection);
    permit?.release();
    this.watch.progress();
  }

  override transaction(
    container: (trx: Knex.Transaction) => unknown,
    config: unknown,
    outerTransaction: unknown,
  ): Knex.Transaction {
    // A savepoint needs no connection of its own.
    if ((this as { transacting?: boolean }).transacting === true)
      return super.transaction(container, config, outerTransaction);
    const withinTransaction = (trx: Knex.Transaction) => runInTransaction(this, () => container(trx));
    return super.transaction(withinTransaction, config, outerTransaction);
  }

  override async _query(
    connection: PooledConnection,
    statement: { sql: string; response?: unknown },
  ): Promise<unknown> {
    const { sql } = statement;
    if ((this as { transacting?: boolean }).transacting === true) {
      const isBegin = BEGIN.test(sql);
      if (isBegin) connection.transaction = { unsent: sql, beginning: undefined, isOver: false };
      if (isBegin || (await isDone(connection, sql))) {
        statement.response = { command: '', rowCount: null, rows: [], fields: [] };
        return statement;
      }
    }
    return runStatement(connection, statement, async () => super._query(connection, statement));
  }

  override async destroy(callback?: (error?: Error) => void): Promise<void> {
    await super.destroy(callback);
    this.watch.stop();
  }
}

const BEGIN = /^BEGIN\b/;
const COMMIT = /^COMMIT\b/;
const ROLLBACK = /^ROLLBACK;?$/;

/** Prepares a transaction of knex for a statement, or returns that the statement has nothing left to do. */
async function isDone(connection: PooledConnection, sql: string): Promise<boolean> {
  const { transaction } = connection;
  if (transaction === undefined) return false;
  const isRollback = ROLLBACK.test(sql);
  if (isRollback || COMMIT.test(sql)) {
    if (transaction.isOver || transaction.unsent !== undefined) return true;
    // The ROLLBACK must come after a BEGIN that is under way.
    if (isRollback) await transaction.beginning?.catch(() => undefined);
    else await transaction.beginning;
    return false;
  }
  await hasBegun(connection);
  return false;
}

/** Sends the BEGIN alone if it is not sent yet. @throws its error, also for later statements of the transaction */
async function hasBegun(connection: PooledConnection): Promise<void> {
  const { transaction } = connection;
  if (transaction === undefined) return;
  const sql = takeBegin(transaction);
  if (sql === undefined) await transaction.beginning;
  else
    await begins(
      transaction,
      runStatement(connection, { sql }, async () => connection.query(sql)),
    );
}

/** The BEGIN that has to be sent now. @throws after the COMMIT */
function takeBegin(transaction: OpenTransaction): string | undefined {
  if (transaction.isOver) throw new Error('the transaction is over');
  const { unsent } = transaction;
  transaction.unsent = undefined;
  return unsent;
}

async function begins<Result>(transaction: OpenTransaction, sent: Promise<Result>): Promise<Result> {
  transaction.beginning = sent;
  const result = await sent;
  transaction.beginning = undefined;
  return result;
}

const COMMIT_STATEMENT: PreparedStatement = { name: 'commit', text: 'COMMIT', values: [] };

const beginStatement = (text: string): PreparedStatement => ({
  name: text === 'BEGIN;' ? 'begin' : '',
  text,
  values: [],
});

/**
 * Runs statements on a connection in one round trip: with the BEGIN of the transaction if that is not sent yet, and with
 * its COMMIT if `commit` is set. If one fails, the server executes none of those after it. Returns the rows of each.
 */
export async function runDirectly(
  connection: PooledConnection,
  statements: readonly PreparedStatement[],
  { types, commit = false }: { types: pg.CustomTypesConfig; commit?: boolean },
): Promise<unknown[][]> {
  const { transaction } = connection;
  const begin = transaction === undefined ? undefined : takeBegin(transaction);
  if (begin === undefined && transaction?.beginning !== undefined) await transaction.beginning;
  const sent = [
    ...(begin === undefined ? [] : [beginStatement(begin)]),
    ...statements,
    ...(commit ? [COMMIT_STATEMENT] : []),
  ];
  const running = runStatement(
    connection,
    describe(sent, { inTransaction: transaction !== undefined, commit }),
    async () => {
      const query = new DirectQuery(sent, types);
      void connection.query(query);
      try {
        return await query.rows;
      } catch (error) {
        // Instead of the stack of the socket that received the error.
        if (Error.isError(error)) Error.captureStackTrace(error);
        throw error;
      }
    },
  );
  let rows: unknown[][];
  try {
    rows = await (transaction === undefined || begin === undefined ? running : begins(transaction, running));
    if (commit && transaction !== undefined) transaction.isOver = true;
  } catch (error) {
    // knex would report the failure of a ROLLBACK instead.
    if (transaction !== undefined && isOutcomeUnknown(error)) transaction.isOver = true;
    throw error;
  }
  return begin === undefined ? rows.slice(0, statements.length) : rows.slice(1, 1 + statements.length);
}

function describe(
  statements: readonly PreparedStatement[],
  { inTransaction, commit }: { inTransaction: boolean; commit: boolean },
): StatementDescription {
  const [first] = statements;
  const sql = first?.text ?? '';
  if (statements.length > 1) {
    const name = statements.map((statement) => statement.name || summaryOf(statement.text)).join(', ');
    const mayWrite = inTransaction ? commit : statements.some(({ text }) => !READ.test(text));
    return { sql, name, count: statements.length, mayWrite };
  }
  return { sql, ...(first?.name && { name: first.name }), ...(inTransaction && { mayWrite: commit }) };
}

/** What is sent to the server. */
interface StatementDescription {
  sql: string;
  /** Of a prepared statement, or of several ones. */
  name?: string;
  /** How many statements it is: 1 by default. */
  count?: number;
  /** Whether it may have changed something if its result is lost; by default that follows from the text. */
  mayWrite?: boolean;
}

/** Runs a statement on a connection of a pool, with its deadline; or several that are sent at once. */
export async function runStatement<Result>(
  connection: PooledConnection,
  { sql, name, count = 1, mayWrite }: StatementDescription,
  call: () => Promise<Result>,
): Promise<Result> {
  const pool = pools.get(connection);
  if (pool === undefined) throw new Error('the connection is not of a pool');
  const { watch, counts } = pool;
  const span = startStatementSpan(connection, sql, name);
  const running = watch.started(connection, count);
  try {
    const result = await recordFailures('connected', call);
    watch.ended(running, true);
    return result;
  } catch (error) {
    watch.ended(running, isResponse(error));
    const explained = explainFailure(running, error);
    const failure = databaseFailure(explained);
    const { code } = explained as { code?: unknown };
    if (span !== undefined) markFailed(span, explained);
    if (failure !== undefined) counts.failed[code === DISK_FULL ? 'disk_full' : failure] += 1;
    // After a failover the session may continue on a server that is now read-only. A new one can reach the primary.
    if (failure === 'unable') connection.__knex__disposed = error;
    if (failure === 'unreachable' && (mayWrite ?? mayHaveWritten(connection, sql))) recordUnknownOutcome(explained);
    throw explained;
  } finally {
    span?.end();
  }
}

/** Whether the server reported the error; only then it has a severity. */
const isResponse = (error: unknown): boolean => typeof (error as { severity?: unknown }).severity === 'string';

/** Begins a statement that changes nothing. */
const READ = /^\s*(?:select|begin|rollback|set|show)\b/i;

/**
 * Whether a statement whose result was lost may have changed something: a COMMIT, or a write that is a transaction of its
 * own. All other statements of a transaction are rolled back with it.
 */
function mayHaveWritten(connection: PooledConnection, sql: string): boolean {
  // The state before the statement.
  return connection.getTransactionStatus() === 'I' ? !READ.test(sql) : /^\s*commit\b/i.test(sql);
}
