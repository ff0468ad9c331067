import { isInTransaction } from '@tocsin/runtime';
import type { Statement, StatementResult } from './pipeline.ts';
import type { PooledConnection } from './pooled-connection.ts';
import { mayChange, runStatements } from './run-statements.ts';
import { command, runTransaction, Transaction, type TransactionBounds } from './transaction.ts';

const ROLLBACK = command('ROLLBACK');
/** Instead of COMMIT: it makes the checks that a COMMIT makes. */
const CHECK = command('SET CONSTRAINTS ALL IMMEDIATE');
const SAVEPOINT = 'dry_run';

const FIRST: TransactionBounds = { begin: command('BEGIN'), commit: CHECK, rollBack: [ROLLBACK], lasts: false };
const LATER: TransactionBounds = {
  begin: command(`SAVEPOINT ${SAVEPOINT}`),
  commit: CHECK,
  // Without the release, an outer savepoint of this name could not be reached.
  rollBack: [command(`ROLLBACK TO SAVEPOINT ${SAVEPOINT}`), command(`RELEASE SAVEPOINT ${SAVEPOINT}`)],
  lasts: false,
};

/** What it needs of a pool. */
interface Connections {
  acquire(): Promise<PooledConnection>;
  release(connection: PooledConnection): void;
}

/**
 * The one transaction of a dry run on a pool. It begins with the first transaction or the first statement that may write,
 * and is rolled back at the end of the dry run. What would commit earlier stays open in it, so that everything after that
 * sees it; later transactions begin with a savepoint. So locks are taken in the order in which the real request takes
 * them. What fails before anything else was written ends it: then the dry run holds no lock, just as the real request.
 */
export class DryRunTransaction {
  readonly #pool: Connections;
  #connection: PooledConnection | undefined;
  /** It has, or waits for, the connection, so nothing else of the dry run may wait for another one. */
  #isOpen = false;
  #isOver = false;
  /** Ends when nothing uses the connection. */
  #turn: Promise<void> = Promise.resolve();

  constructor(pool: Connections) {
    this.#pool = pool;
  }

  /** Runs statements that are a transaction of their own in the real request. */
  async run(statements: readonly Statement[]): Promise<StatementResult[]> {
    this.#checkOpen();
    if (this.#connection !== undefined && isInTransaction(this.#pool)) {
      return runStatements(this.#connection, statements, { mayWrite: false });
    }
    if (!this.#isOpen && !mayChange(statements)) {
      const connection = await this.#pool.acquire();
      try {
        return await runStatements(connection, statements);
      } finally {
        this.#pool.release(connection);
      }
    }
    return this.transaction(async (transaction) => transaction.run(statements, { commit: true }));
  }

  async transaction<Result>(work: (transaction: Transaction) => PromiseLike<Result>): Promise<Result> {
    return this.#serially(async () => {
      const connection = this.#connection;
      if (connection !== undefined) return runTransaction(this.#pool, new Transaction(connection, LATER), work);
      this.#isOpen = true;
      try {
        const opened = (this.#connection = await this.#pool.acquire());
        return await runTransaction(this.#pool, new Transaction(opened, FIRST), work);
      } finally {
        // If it has been rolled back, or has sent nothing.
        if (this.#connection?.getTransactionStatus() !== 'T' || this.#connection.isLost) this.#release();
      }
    });
  }

  /** Rolls everything back. Never rejects: the pool closes the connection of a transaction that is still open. */
  async end(): Promise<void> {
    await this.#serially(async () => {
      this.#isOver = true;
      if (this.#connection === undefined) return;
      await runStatements(this.#connection, [ROLLBACK], { mayWrite: false }).catch(() => undefined);
      this.#release();
    });
  }

  /** One after the other, except what is a part of another one. */
  async #serially<Result>(work: () => Promise<Result>): Promise<Result> {
    if (isInTransaction(this.#pool)) return work();
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = promise;
    try {
      await before;
      this.#checkOpen();
      return await work();
    } finally {
      resolve();
    }
  }

  #checkOpen(): void {
    if (this.#isOver) throw new Error('the dry run is over');
  }

  #release(): void {
    if (this.#connection !== undefined) this.#pool.release(this.#connection);
    this.#connection = undefined;
    this.#isOpen = false;
  }
}
