import {
  currentDryRun,
  currentRequest,
  type DryRun,
  FairQueue,
  isInTransaction,
  type Lease,
  LimitReached,
  type Limits,
  type RequestWork,
  runInBackground,
} from '@tocsin/runtime';
import pg from 'pg';
import { BACKGROUND, type ConnectionHolder, WAITS } from './connection-limits.ts';
import { DatabaseCallError } from './database-call-error.ts';
import type { DatabaseHosts } from './database-hosts.ts';
import type { DatabaseDeadlines } from './database-deadlines.ts';
import { failureOfSqlState, recordFailure } from './database-failure.ts';
import { DryRunTransaction } from './dry-run-transaction.ts';
import { type LeaseRefusal, PooledConnection } from './pooled-connection.ts';
import { prepareSession } from './session.ts';
import { checkPooledSession } from './transaction-pooling.ts';
import { sharedStatements, type SharedStatements } from './shared-statements.ts';
import type { HostConfig, SessionOptions } from './session-settings.ts';
import { StatementWatch } from './statement-watch.ts';
import { boundsOf, runTransaction, type StatementTarget, Transaction, type TransactionOptions } from './transaction.ts';

/** For a connection to end its session; then it is destroyed. Milliseconds. */
const CLOSE_TIMEOUT = 1_000;
/** Milliseconds after which a connection that nobody uses is closed. */
const UNUSED_TIMEOUT = 30_000;

export interface AcquireOptions {
  /** Whether a connection that was not used for a while first proves that it works. Default: yes. */
  proven?: boolean;
}

/** Connections that are divided among workspaces, with a deadline for each wait. */
export class Pool {
  readonly leases: FairQueue<ConnectionHolder>;
  readonly watch: StatementWatch;
  readonly #hosts: DatabaseHosts;
  readonly #session: Omit<SessionOptions, 'config'>;
  /** If its connections may share sessions. */
  readonly #statements: SharedStatements | undefined;
  /** The one that was used last is at the end, and is used next. */
  #unused: PooledConnection[] = [];
  #closingUnused: NodeJS.Timeout | undefined;
  readonly #closing = new Set<Promise<void>>();
  readonly #dryRuns = new WeakMap<DryRun, DryRunTransaction>();
  #isClosed = false;
  readonly #allReleased = Promise.withResolvers<void>();

  constructor(options: {
    hosts: DatabaseHosts;
    session: Omit<SessionOptions, 'config'>;
    limits: Limits<ConnectionHolder>;
    deadlines: DatabaseDeadlines;
    sharesSessions: boolean;
  }) {
    const { hosts, session, limits, deadlines, sharesSessions } = options;
    this.#hosts = hosts;
    this.#session = session;
    this.#statements = sharesSessions ? sharedStatements() : undefined;
    this.leases = new FairQueue(limits);
    this.watch = new StatementWatch(deadlines, this.leases);
  }

  /** Where a statement outside of a transaction is sent. The caller releases a connection. */
  async target(options?: AcquireOptions): Promise<StatementTarget> {
    return this.#dryRun() ?? this.acquire(options);
  }

  /** The transaction of the current dry run. */
  #dryRun(): DryRunTransaction | undefined {
    const dryRun = currentDryRun();
    if (dryRun === undefined) return undefined;
    const existing = this.#dryRuns.get(dryRun);
    if (existing !== undefined) return existing;
    const transaction = new DryRunTransaction(this);
    dryRun.atEnd(async () => transaction.end());
    this.#dryRuns.set(dryRun, transaction);
    return transaction;
  }

  /**
   * Returns a connection for the current request or background work, which ends with `release`.
   * @throws DatabaseCallError if there is none in time
   */
  async acquire({ proven = true }: AcquireOptions = {}): Promise<PooledConnection> {
    this.#checkOpen();
    this.watch.awaited();
    const lease = await this.#lease(currentRequest());
    try {
      this.#checkOpen();
      // The sockets outlive the request that happens to need the first connection.
      const connection = await runInBackground(async () => this.#usableConnection(proven));
      connection.lease = lease;
      return connection;
    } catch (error) {
      lease.release();
      this.#released();
      throw error;
    }
  }

  async #lease(request: RequestWork | undefined): Promise<Lease> {
    const holder = request?.holder ?? BACKGROUND;
    /** Whether it may still be told that nothing has happened. */
    const mayLeave = () => request !== undefined && (request.readOnly || !request.hasBegun);
    try {
      const lease = await this.leases.take(holder, {
        first: request !== undefined && !mayLeave(),
        // Nothing that holds a connection waits for another one, since it might wait for itself.
        wait: isInTransaction(this) ? 0 : mayLeave() ? WAITS.request : WAITS.background,
        isGone: () => request?.isClientGone() === true,
      });
      if (request?.isClientGone() === true) {
        lease.release();
        throw new LimitReached('gone');
      }
      if (request !== undefined) request.hasBegun = true;
      return lease;
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      // Those that wait for a database which does not respond do not wait for their own requests.
      const isOwn = error.limit === 'holder' && mayLeave() && this.watch.isServing;
      const reason = error.limit === 'gone' ? 'client_gone' : isOwn ? 'share' : 'pool';
      this.watch.counts.refused[reason] += 1;
      throw refusals[reason]();
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new Error('the pool of connections is closed');
  }

  async #usableConnection(proven: boolean): Promise<PooledConnection> {
    for (let connection = this.#unused.pop(); connection !== undefined; connection = this.#unused.pop()) {
      if (!connection.isReusable) continue;
      if (!proven || (await this.watch.stillWorks(connection))) return connection;
      this.#close(connection);
      // Others may need as long to fail.
      break;
    }
    return this.#connect();
  }

  async #connect(): Promise<PooledConnection> {
    try {
      const connection = await this.#hosts.connect(async (host) => this.#connectTo(host));
      this.watch.connected(connection);
      return connection;
    } catch (error) {
      const failure =
        error instanceof DatabaseCallError
          ? error.failure
          : error instanceof pg.DatabaseError
            ? failureOfSqlState(error.code ?? '')
            : 'unreachable';
      recordFailure(error as Error, failure);
      // The others would wait for the same connection attempts.
      if (failure === 'unreachable') this.watch.refuseWaiting('cannot connect to the database');
      throw error;
    }
  }

  async #connectTo(config: HostConfig): Promise<PooledConnection> {
    const connection = new PooledConnection(config, this.watch, this.#statements);
    try {
      await connection.connect();
      const prepare = this.#statements === undefined ? prepareSession : checkPooledSession;
      await prepare(connection, { ...this.#session, config });
      return connection;
    } catch (error) {
      this.#close(connection);
      throw error;
    }
  }

  release(connection: PooledConnection): void {
    const { lease } = connection;
    connection.lease = undefined;
    // The next user must not get the statement or the transaction of this one.
    if (connection.statements.size > 0) connection.abandon('the connection was released during a statement');
    if (connection.getTransactionStatus() !== 'I') connection.doNotReuse();
    if (connection.isReusable && !this.#isClosed) {
      this.#unused.push(connection);
      this.#closingUnused ??= runInBackground(() =>
        setInterval(() => this.#closeUnused(), UNUSED_TIMEOUT / 10).unref(),
      );
    } else this.#close(connection);
    lease?.release();
    this.#released();
  }

  #released(): void {
    this.watch.progress();
    if (this.#isClosed && this.leases.held === 0) this.#allReleased.resolve();
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
    if (this.leases.held > 0) await this.#allReleased.promise;
    clearInterval(this.#closingUnused);
    for (const connection of this.#unused.splice(0)) this.#close(connection);
    await Promise.all(this.#closing);
    this.watch.stop();
  }
}

const refusals: Record<LeaseRefusal, () => DatabaseCallError> = {
  share: () => new DatabaseCallError('share_exceeded', 'the workspace uses all connections that it may use'),
  pool: () => new DatabaseCallError('busy', 'all connections of the pool are in use'),
  client_gone: () => new DatabaseCallError('abandoned', 'the client has gone'),
};
