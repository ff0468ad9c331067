import { TLSSocket, type ConnectionOptions } from 'node:tls';
import { Socket } from 'node:net';
import pg from 'pg';
import { DatabaseCallError, type DatabaseFailure } from './database-call-error.ts';
import { forgetStatements } from './pipeline.ts';
import { addressOf, type Session } from './postgres-signals.ts';
import type { SharedStatements } from './shared-statements.ts';
import type { Lease, RequestWork } from '@tocsin/runtime';

/** Why a statement of a request that only reads is cancelled. */
export type CancelReason = 'timeout' | 'client_gone';

/** Why no connection was given: the holder's limit is reached, all connections are in use, or nobody waits any more. */
export type LeaseRefusal = 'share' | 'pool' | 'client_gone';

/** What a destroyed connection did: it had a statement that did not end, its whole server was silent, or nothing. */
export type AbandonReason = 'statement' | 'server' | 'unused';

/** A statement that waits for its result, or several that were sent at once. */
export interface RunningStatement {
  readonly connection: PooledConnection;
  /** The request that it belongs to. */
  readonly request: RequestWork | undefined;
  readonly startedAt: number;
  /** The connection is destroyed then. */
  readonly deadline: number;
  /** When this process has asked the server to cancel it. */
  cancelledAt: number | undefined;
}

export interface StatementObserver {
  readonly counts: { readonly failed: Record<DatabaseFailure | 'disk_full', number> };
  started(connection: PooledConnection, count: number): RunningStatement;
  ended(statement: RunningStatement, hasResponded: boolean): void;
}

/** A connection of a pool. */
export class PooledConnection extends pg.Client {
  /** What its statements report to. */
  readonly watch: StatementObserver;
  /** If its pooler may give each transaction another session. */
  readonly shared: SharedStatements | undefined;
  /** Its statements without a result: one, or several of a transaction. */
  readonly statements = new Set<RunningStatement>();
  /** When its last statement ended. */
  usedAt = 0;
  /** The right of its current user to use it. */
  lease: Lease | undefined;
  /** Why this process has destroyed it. */
  failure: DatabaseCallError | undefined;
  /** Why this process has asked the server to cancel a statement: the request may arrive late and hit a later one. */
  cancelled: CancelReason | undefined;
  #isLost = false;
  #isReusable = true;

  constructor(config: pg.ClientConfig, watch: StatementObserver, shared?: SharedStatements) {
    super(config);
    this.watch = watch;
    this.shared = shared;
    for (const event of ['error', 'end'] as const) this.on(event, () => (this.#isLost = true));
  }

  /** Whether no statement can reach the server any more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether others may use it after its current user. */
  get isReusable(): boolean {
    return this.#isReusable && !this.#isLost;
  }

  /** Has the pool close it when its user releases it. */
  doNotReuse(): void {
    this.#isReusable = false;
  }

  /** After the session has dropped its prepared statements. */
  forgetStatements(): void {
    forgetStatements(this.connection as unknown as Parameters<typeof forgetStatements>[0]);
  }

  /**
   * Destroys the connection; its statements fail. With a reset, so that the system does not try for minutes to send what
   * the server has not received, such as a COMMIT whose outcome is reported as unknown.
   */
  abandon(reason: string): void {
    this.failure ??= new DatabaseCallError('unreachable', reason);
    this.doNotReuse();
    const { stream } = this.connection;
    // Node never closes a socket that it resets while its end is being sent.
    if (stream instanceof Socket && !(stream instanceof TLSSocket) && !stream.writableEnded) stream.resetAndDestroy();
    else stream.destroy();
  }

  /** Ends the session; destroys the connection if that takes longer than `timeout` milliseconds. */
  async close(timeout: number): Promise<void> {
    const timer = setTimeout(() => this.connection.stream.destroy(), timeout);
    try {
      await this.end();
    } finally {
      clearTimeout(timer);
    }
  }

  /** What a cancel request for this session needs; `undefined` if the server offers none. */
  get session(): Session | undefined {
    const { processID, secretKey, ssl } = this as unknown as {
      processID: number | null;
      secretKey: number | null;
      ssl: boolean | ConnectionOptions;
    };
    if (processID === null || secretKey === null) return undefined;
    return { address: addressOf(this), processId: processID, secretKey, ssl, host: this.host };
  }
}
