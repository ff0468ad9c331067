import { currentDryRun, currentRequest, type DryRun, isInTransaction, runInBackground } from '@tocsin/runtime';
import pg from 'pg';
import { ConnectionShares, type ShareLimits } from './connection-shares.ts';
import { DatabaseCallError } from './database-call-error.ts';
import type { DatabaseDeadlines } from './database-deadlines.ts';
import { failureOfSqlState, recordFailure } from './database-failure.ts';
import { DryRunTransaction } from './dry-run-transaction.ts';
import { PooledConnection, type PoolCounts } from './pooled-connection.ts';
import { StatementWatch } from './statement-watch.ts';
import { boundsOf, runTransaction, type StatementTarget, Transaction, type TransactionOptions } from './transaction.ts';

/** For a connection to end its session; then it is destroyed. Milliseconds. */
const CLOSE_TIMEOUT = 1_000;
/** Milliseconds after which a connection that nobody uses is closed. */
const UNUSED_TIMEOUT = 30_000;

/** Connections that are divided among workspaces, with a deadline for each wait. */
export class Pool {
  readonly shares: ConnectionShares;
  readonly watch: StatementWatch;
  readonly counts: PoolCounts = {
    failed: {
      disk_full: 0,
      unreachable: 0,
      unable: 0,
      conflict: 0,
      timeout: 0,
      refused: 0,
      busy: 0,
      share_exceeded: 0,
      abandoned: 0,
    },
    refused: { share: 0, pool: 0, client_gone: 0 },
    cancelled: { timeout: 0, client_gone: 0 },
    abandoned: { statement: 0, server: 0, unused: 0 },
  };
  readonly #connection: pg.ClientConfig;
  /** The one that was used last is at the end, and is used next. */
  #unused: PooledConnection[] = [];
  #closingUnused: NodeJS.Timeout | undefined;
  readonly #closing = new Set<Promise<void>>();
  readonly #dryRuns = new WeakMap<DryRun, DryRunTransaction>();
  #isClosed = false;
  readonly #allReleased = Promise.withResolvers<void>();

  constructor(options: { connection: pg.ClientConfig; limits: ShareLimits; deadlines: DatabaseDeadlines }) {
    const { connection, limits, deadlines } = options;
    this.#connection = connection;
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

  /** Where a statement outside of a transaction is sent. The caller releases a connection. */
  async target(): Promise<StatementTarget> {
    return this.#dryRun() ?? this.acquire();
  }

  /** The transaction of the current dry run. */
  #dryRun(): DryRunTransaction | undefined {
    const dryRun = currentDryRun();
    if (dryRun === undefined) return undefined;
    const known = this.#dryRuns.get(dryRun);
    if (known !== undefined) return known;
    const transaction = new DryRunTransaction(this);
    dryRun.atEnd(async () => transaction.end());
    this.#dryRuns.set(dryRun, transaction);
    return transaction;
  }

  /**
   * Returns a connection for the current request or background work, which ends with `release`.
   * @throws DatabaseCallError if there is none in time
   */
  async acquire(): Promise<PooledConnection> {
    this.#checkOpen();
    this.watch.demand();
    const taken = this.shares.take(currentRequest(), { nested: isInTransaction(this) });
    const permit = taken instanceof Promise ? await taken : taken;
    try {
      this.#checkOpen();
      // The sockets outlive the request that happens to need the first connection.
      const connection = await runInBackground(async () => this.#usableConnection());
      connection.permit = permit;
      return connection;
    } catch (error) {
      permit.release();
      this.#released();
      throw error;
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new Error('the pool of connections is closed');
  }

  async #usableConnection(): Promise<PooledConnection> {
    for (let connection = this.#unused.pop(); connection !== undefined; connection = this.#unused.pop()) {
      if (!connection.isReusable) continue;
      if (await this.watch.proves(connection)) return connection;
      this.#close(connection);
      // Others may need as long to fail.
      break;
    }
    return this.#connect();
  }

  async #connect(): Promise<PooledConnection> {
    const connection = new PooledConnection(this.#connection, this);
    try {
      await connection.connect();
    } catch (error) {
      const failure = error instanceof pg.DatabaseError ? failureOfSqlState(error.code ?? '') : 'unreachable';
      recordFailure(error as Error, failure);
      this.#close(connection);
      // The others would wait for the same connection attempts.
      if (failure === 'unreachable') this.#refuseWaiting('cannot connect to the database');
      throw error;
    }
    this.watch.connected(connection);
    return connection;
  }

  release(connection: PooledConnection): void {
    const { permit } = connection;
    connection.permit = undefined;
    // The next user must not get the statement or the transaction of this one.
    if (connection.statements.size > 0) connection.abandon('the connection was released during a statement');
    if (connection.getTransactionStatus() !== 'I') connection.doNotReuse();
    if (connection.isReusable && !this.#isClosed) {
      this.#unused.push(connection);
      this.#closingUnused ??= runInBackground(() =>
        setInterval(() => this.#closeUnused(), UNUSED_TIMEOUT / 10).unref(),
      );
    } else this.#close(connection);
    permit?.release();
    this.#released();
  }

  #released(): void {
    this.watch.progress();
    if (this.#isClosed && this.shares.inUse === 0) this.#allReleased.resolve();
  }

  #closeUnused(): void {
    const now = this.watch.now();
    const isKept = ({ isReusable, usedAt }: PooledConnection) => isReusable && now - usedAt < UNUSED_TIMEOUT;
    for (const connection of this.#unused) if (!isKept(connection)) this.#close(connection);
    this.#unused = this.#unused.filter(isKept);
    if (this.#unused.length > 0) return;
    clearInterval(this.#closingUnused);
    this.#closingUnused = undefined;
  }

  #close(connection: PooledConnection): void {
    const closing: Promise<void> = connection.close(CLOSE_TIMEOUT).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /**
   * Runs `work` in a transaction and commits it; if `work` or the COMMIT fails, it is rolled back. Within `work`, nothing
   * waits for another connection of the pool. In a dry run it is a part of `DryRunTransaction`, without the options.
   */
  async transaction<Result>(
    work: (transaction: Transaction) => PromiseLike<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    const dryRun = this.#dryRun();
    if (dryRun !== undefined) return dryRun.transaction(work);
    const connection = await this.acquire();
    try {
      return await runTransaction(this, new Transaction(connection, boundsOf(options)), work);
    } finally {
      this.release(connection);
    }
  }

  /** Waits until all connections are released, and closes them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.shares.inUse > 0) await this.#allReleased.promise;
    clearInterval(this.#closingUnused);
    for (const connection of this.#unused.splice(0)) this.#close(connection);
    await Promise.all(this.#closing);
    this.watch.stop();
  }
}
