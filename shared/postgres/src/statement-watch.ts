import type { ConnectionHolder } from './connection-limits.ts';
import { DatabaseCallError } from './database-call-error.ts';
import type { DatabaseDeadlines } from './database-deadlines.ts';
import type {
  AbandonReason,
  CancelReason,
  LeaseRefusal,
  PooledConnection,
  RunningStatement,
} from './pooled-connection.ts';
import { addressOf, cancelStatement, responds, type ServerAddress } from './postgres-signals.ts';
import { currentRequest, type FairQueue, runInBackground } from '@tocsin/runtime';

/** Milliseconds between two looks at the statements that run. */
const INTERVAL = 100;
/** Looks without anything to do before the timer stops. */
const IDLE_LOOKS = 10;
/** Milliseconds that each statement has even if its request has used up its time: enough for a ROLLBACK. */
const SHORTEST_TIME = 250;

const SERVER_GONE = 'the database server does not respond';

/** The connections to one address. */
interface Server {
  address: ServerAddress;
  connections: Set<PooledConnection>;
  /** When something last arrived from it. */
  respondedAt: number;
  probing: boolean;
}

/**
 * Ends every wait of a pool for its server. One timer looks at all statements, so that a statement costs no timer of
 * its own.
 */
export class StatementWatch {
  readonly #deadlines: DatabaseDeadlines;
  readonly #leases: FairQueue<ConnectionHolder>;
  /** Since the start. */
  readonly counts = {
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
    /** Connections that were not given. */
    refused: { share: 0, pool: 0, client_gone: 0 } satisfies Record<LeaseRefusal, number>,
    cancelled: { timeout: 0, client_gone: 0 } satisfies Record<CancelReason, number>,
    abandoned: { statement: 0, server: 0, unused: 0 } satisfies Record<AbandonReason, number>,
  };
  readonly #running = new Set<RunningStatement>();
  readonly #servers = new Map<string, Server>();
  readonly #serverOf = new WeakMap<PooledConnection, Server>();
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #idleLooks = 0;
  /** Milliseconds in which the event loop was blocked, so that no response could be read. */
  #blocked = 0;
  /** Since when the database has been asked for something and has not responded. */
  #quietSince: number | undefined;
  /** Since when something has been asked for and nothing has ended, in whatever way. */
  #unservedSince: number | undefined;

  /** @param leases of the connections */
  constructor(deadlines: DatabaseDeadlines, leases: FairQueue<ConnectionHolder>) {
    this.#deadlines = deadlines;
    this.#leases = leases;
  }

  /** Milliseconds on a clock that stands still while the event loop is blocked. */
  readonly now = (): number => performance.now() - this.#blocked;

  /** Whether the database responds, or is not asked for anything. */
  get isServing(): boolean {
    const { silence } = this.#deadlines;
    // A probe is under way after `silence`; its response takes a moment.
    return this.#quietSince === undefined || this.now() - this.#quietSince < 1.5 * silence;
  }

  /** Whether nothing has ended for a long time, although something was asked for. */
  get isStuck(): boolean {
    return this.#unservedSince !== undefined && this.now() - this.#unservedSince >= this.#deadlines.stuck;
  }

  /** Somebody needs a connection or a result. */
  awaited(): void {
    this.#quietSince ??= this.now();
    this.#unservedSince ??= this.#quietSince;
    if (this.#timer === undefined) this.#startLooking();
  }

  /** Something has ended: a statement, an attempt to connect, the use of a connection. */
  progress(): void {
    this.#unservedSince = this.#hasWork() ? this.now() : undefined;
  }

  connected(connection: PooledConnection): void {
    const address = addressOf(connection);
    const key = JSON.stringify(address);
    const server = this.#servers.get(key) ?? { address, connections: new Set(), respondedAt: 0, probing: false };
    this.#servers.set(key, server);
    server.connections.add(connection);
    this.#serverOf.set(connection, server);
    connection.once('end', () => {
      server.connections.delete(connection);
      if (server.connections.size === 0) this.#servers.delete(key);
    });
    connection.usedAt = this.now();
    this.#responded(server);
  }

  /** @param count of the statements that are sent at once; each may take its time on the server */
  started(connection: PooledConnection, count: number): RunningStatement {
    const { statement, statementMargin } = this.#deadlines;
    return this.#start(connection, count * statement + statementMargin);
  }

  #start(connection: PooledConnection, timeout: number): RunningStatement {
    this.awaited();
    const request = currentRequest();
    const startedAt = this.now();
    const statement: RunningStatement = {
      connection,
      request,
      startedAt,
      deadline: startedAt + timeout,
      cancelledAt: undefined,
    };
    request?.statementStarted(startedAt);
    this.#running.add(statement);
    connection.statements.add(statement);
    return statement;
  }

  /** @param hasResponded whether the server has sent a result or an error */
  ended(statement: RunningStatement, hasResponded: boolean): void {
    const { connection, request } = statement;
    const now = this.now();
    request?.statementEnded(now);
    this.#running.delete(statement);
    connection.statements.delete(statement);
    connection.usedAt = now;
    const server = this.#serverOf.get(connection);
    if (hasResponded && server !== undefined) this.#responded(server);
    this.progress();
  }

  /** Whether an unused connection still works. One that was used a moment ago does. */
  async stillWorks(connection: PooledConnection): Promise<boolean> {
    const { unused, proof } = this.#deadlines;
    if (this.now() - connection.usedAt < unused) return true;
    const statement = this.#start(connection, proof);
    const works = await connection.query('select 1').then(
      () => true,
      () => false,
    );
    this.ended(statement, works);
    return works;
  }

  /** Those that wait for a connection would wait for the same server. */
  refuseWaiting(message: string): void {
    this.#leases.refuseAll(() => new DatabaseCallError('unreachable', message));
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #hasWork = () => this.#running.size > 0 || this.#leases.waiting > 0;

  #responded(server: Server): void {
    server.respondedAt = this.now();
    this.#quietSince = this.#hasWork() ? server.respondedAt : undefined;
  }

  #startLooking(): void {
    this.#lookedAt = performance.now();
    this.#idleLooks = 0;
    // In the next phase of the event loop: after a block, responses that have arrived are read before the statements are
    // looked at.
    const look = () => setImmediate(() => this.#look());
    this.#timer = runInBackground(() => setInterval(look, INTERVAL).unref());
  }

  #look(): void {
    if (this.#timer === undefined) return;
    const late = performance.now() - this.#lookedAt - INTERVAL;
    if (late > INTERVAL) this.#blocked += late;
    this.#lookedAt = performance.now();
    const now = this.now();
    for (const statement of this.#running) this.#lookAtStatement(statement, now);
    for (const server of this.#servers.values()) this.#lookAtServer(server, now);
    this.#idleLooks = this.#hasWork() ? 0 : this.#idleLooks + 1;
    if (this.#idleLooks >= IDLE_LOOKS) this.stop();
  }

  #lookAtStatement(statement: RunningStatement, now: number): void {
    const { connection, request, cancelledAt, startedAt } = statement;
    if (connection.failure !== undefined) return;
    if (now >= statement.deadline) {
      this.#abandonStatement(statement, 'the database has not responded in time');
    } else if (cancelledAt !== undefined) {
      if (now - cancelledAt >= this.#deadlines.cancel)
        this.#abandonStatement(statement, 'a cancelled statement has not ended');
    } else if (request?.isClientGone() === true) {
      // The gateway has given it up: a write must not go on when it gets the lock that it waits for.
      this.#cancel(statement, 'client_gone');
    } else if (request?.readOnly === true) {
      if (request.statementTime(now) >= this.#deadlines.read && now - startedAt >= SHORTEST_TIME) {
        this.#cancel(statement, 'timeout');
      }
    }
  }

  #cancel(statement: RunningStatement, reason: CancelReason): void {
    const { connection } = statement;
    statement.cancelledAt = this.now();
    this.counts.cancelled[reason] += 1;
    connection.cancelled ??= reason;
    connection.doNotReuse();
    const { session } = connection;
    if (session !== undefined) void cancelStatement(session, this.#deadlines.cancel);
  }

  /** Destroys the connection of a statement, and the unused ones that have not been heard of since it began. */
  #abandonStatement({ connection, startedAt }: RunningStatement, reason: string): void {
    this.#abandon(connection, 'statement', reason);
    for (const other of this.#serverOf.get(connection)?.connections ?? []) {
      const isUnused = other.lease === undefined && other.statements.size === 0;
      if (isUnused && other.usedAt <= startedAt) this.#abandon(other, 'unused', 'another connection does not respond');
    }
  }

  #abandon(connection: PooledConnection, reason: AbandonReason, message: string): void {
    if (connection.failure !== undefined) return;
    this.counts.abandoned[reason] += 1;
    connection.abandon(message);
  }

  /** Probes a server that has sent nothing for a while, although statements wait for it. */
  #lookAtServer(server: Server, now: number): void {
    const { silence, probe } = this.#deadlines;
    if (server.probing || now - server.respondedAt < silence || !this.#isAwaited(server, now - silence)) return;
    server.probing = true;
    void responds(server.address, probe).then((isAlive) => {
      server.probing = false;
      if (isAlive) this.#responded(server);
      else if (server.respondedAt <= now) {
        for (const connection of server.connections) this.#abandon(connection, 'server', SERVER_GONE);
        this.refuseWaiting(SERVER_GONE);
      }
    });
  }

  /** Whether a statement that began before then waits for the server. */
  #isAwaited({ connections }: Server, before: number): boolean {
    for (const { statements, failure } of connections) {
      if (failure !== undefined) continue;
      for (const { startedAt } of statements) if (startedAt <= before) return true;
    }
    return false;
  }
}
