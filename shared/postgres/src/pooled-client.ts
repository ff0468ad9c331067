import type { Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import { ConnectionShares, type ShareLimits } from './connection-shares.ts';
import { DatabaseCallError } from './database-call-error.ts';
import type { DatabaseDeadlines } from './database-deadlines.ts';
import { databaseFailure, recordFailures } from './database-failure.ts';
import { PooledConnection } from './pooled-connection.ts';
import { NO_FAILURES, type PoolCounts, reportStatements, runStatement } from './run-statement.ts';
import { StatementWatch } from './statement-watch.ts';
import { isDone } from './transactions.ts';
import { currentRequest, isInTransaction, runInBackground, runInTransaction } from '@tocsin/runtime';

/** knex's configuration with what `PooledClient` needs in addition. */
export interface PooledConfig extends Knex.Config {
  pooling: { limits: ShareLimits; deadlines: DatabaseDeadlines };
}

/** For a connection to end its session; then it is destroyed. Milliseconds. */
const CLOSE_TIMEOUT = 1_000;

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
      reportStatements(connection, { watch: this.watch, counts: this.counts });
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
      if (await isDone(connection, sql)) {
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
