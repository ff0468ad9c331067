import { TLSSocket, type ConnectionOptions } from 'node:tls';
import { Socket } from 'node:net';
import pg from 'pg';
import { DatabaseCallError } from './database-call-error.ts';
import { addressOf, type Session } from './postgres-signals.ts';
import type { ConnectionPermit } from './connection-shares.ts';
import type { RequestWork } from '@tocsin/runtime';

/** Why a statement of a request that only reads is cancelled. */
export type CancelReason = 'timeout' | 'client_gone';

/** A statement that waits for its result. */
export interface RunningStatement {
  readonly connection: PooledConnection;
  /** The request that it belongs to. */
  readonly request: RequestWork | undefined;
  readonly startedAt: number;
  /** The connection is destroyed then. */
  readonly deadline: number;
  /** When and why this process has asked the server to cancel it. */
  cancelled: { at: number; reason: CancelReason } | undefined;
}

/** The transaction of knex on a connection. */
export interface OpenTransaction {
  /** The BEGIN, until it is sent with the first statement. */
  unsent: string | undefined;
  /** What sends it, and the error of that for all later statements: they must not run outside a transaction. */
  beginning: Promise<unknown> | undefined;
  /** Whether its COMMIT was sent with other statements, and succeeded or has an unknown outcome. */
  isOver: boolean;
}

/** A connection of a pool. */
export class PooledConnection extends pg.Client {
  /** Its statements without a result: one, or several of a transaction. */
  readonly statements = new Set<RunningStatement>();
  /** When its last statement ended. */
  usedAt = 0;
  /** The right of its current user to use it. */
  permit: ConnectionPermit | undefined;
  transaction: OpenTransaction | undefined;
  /** Why this process has destroyed it. */
  failure: DatabaseCallError | undefined;
  /** knex removes a connection with this property from the pool instead of using it. */
  __knex__disposed: unknown;

  constructor(config: pg.ClientConfig) {
    super(config);
    this.on('error', (error) => (this.__knex__disposed ??= error));
    this.on('end', () => (this.__knex__disposed ??= new Error('the connection has ended')));
  }

  /** Ends the session when its user releases it. */
  doNotReuse(reason: string): void {
    this.__knex__disposed ??= new Error(reason);
  }

  /**
   * Destroys the connection; its statements fail. With a reset, so that the system does not try for minutes to send what
   * the server has not received, such as a COMMIT whose outcome is reported as unknown.
   */
  abandon(reason: string): void {
    this.failure ??= new DatabaseCallError('unreachable', reason);
    this.__knex__disposed ??= this.failure;
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
