import { currentRequest, runInTransaction } from '@tocsin/runtime';
import { DatabaseCallError } from './database-call-error.ts';
import type { Statement, StatementResult } from './pipeline.ts';
import { PooledConnection } from './pooled-connection.ts';
import { runStatements } from './run-statements.ts';

export interface TransactionOptions {
  isolationLevel?: 'read committed' | 'repeatable read' | 'serializable';
  readOnly?: boolean;
}

/** The statements at the beginning and the end of a transaction. */
export interface TransactionBounds {
  begin: Statement;
  commit: Statement;
  rollBack: readonly Statement[];
  /** Whether `commit` makes it last. */
  lasts: boolean;
}

/** A statement without values, prepared under its own text. */
export const command = (text: string): Statement => ({ name: text, text });

const BOUNDS: TransactionBounds = {
  begin: command('BEGIN'),
  commit: command('COMMIT'),
  rollBack: [command('ROLLBACK')],
  lasts: true,
};

export function boundsOf({ isolationLevel, readOnly = false }: TransactionOptions): TransactionBounds {
  if (isolationLevel === undefined && !readOnly) return BOUNDS;
  const level = isolationLevel === undefined ? '' : ` ISOLATION LEVEL ${isolationLevel.toUpperCase()}`;
  return { ...BOUNDS, begin: { text: `BEGIN${level}${readOnly ? ' READ ONLY' : ''}` } };
}

/** A transaction on a connection. BEGIN is sent with its first statements, and COMMIT may be sent with its last ones. */
export class Transaction {
  readonly #connection: PooledConnection;
  readonly #bounds: TransactionBounds;
  /** The first statements; undefined until they are sent. */
  #first: Promise<unknown> | undefined;
  /** Nothing may follow: it has been committed or rolled back, or is about to be. */
  #isOver = false;

  constructor(connection: PooledConnection, bounds: TransactionBounds) {
    this.#connection = connection;
    this.#bounds = bounds;
  }

  /**
   * Runs statements in one round trip. If the first ones fail, all later ones fail with their error: they must not run
   * outside the transaction.
   * @param options.commit commits it in the same round trip
   */
  async run(statements: readonly Statement[], { commit = false } = {}): Promise<StatementResult[]> {
    const isFirst = this.#first === undefined;
    if (!isFirst) await this.#first;
    if (this.#isOver) throw new Error('the transaction is over');
    const bounds = this.#bounds;
    if (commit && bounds.lasts && currentRequest()?.isClientGone() === true) {
      throw new DatabaseCallError('abandoned', 'the client has gone');
    }
    const wholeBatch = [...(isFirst ? [bounds.begin] : []), ...statements, ...(commit ? [bounds.commit] : [])];
    const running = runStatements(this.#connection, wholeBatch, { mayWrite: commit && bounds.lasts });
    if (isFirst) this.#first = running;
    const results = await running;
    this.#isOver = commit;
    // The server answers the COMMIT of a failed transaction so.
    if (commit && results.at(-1)?.command === 'ROLLBACK') {
      throw new DatabaseCallError('refused', 'the transaction was rolled back, because one of its statements failed');
    }
    return results.slice(isFirst ? 1 : 0, commit ? -1 : undefined);
  }

  /** Commits what is not committed yet. */
  async commit(): Promise<void> {
    if (this.#first !== undefined && !this.#isOver) await this.run([], { commit: true });
    this.#isOver = true;
  }

  /** Never rejects: the pool closes the connection of a transaction that is still open. */
  async rollBack(): Promise<void> {
    this.#isOver = true;
    try {
      // Its BEGIN may be under way.
      await this.#first?.catch(() => undefined);
      const { isLost } = this.#connection;
      const isOpen = this.#first !== undefined && !isLost && this.#connection.getTransactionStatus() !== 'I';
      if (isOpen) await runStatements(this.#connection, this.#bounds.rollBack, { mayWrite: false });
    } catch {
      // What made the transaction fail says more.
    }
  }
}

/**
 * Runs `work` in a transaction on a connection of `pool` and commits it; if `work` or the COMMIT fails, it is rolled back.
 */
export async function runTransaction<Result>(
  pool: object,
  transaction: Transaction,
  work: (transaction: Transaction) => PromiseLike<Result>,
): Promise<Result> {
  try {
    const result = await runInTransaction(pool, () => work(transaction));
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollBack();
    throw error;
  }
}

/** Where statements are sent: to a connection, or to a transaction. */
export type StatementTarget = PooledConnection | Pick<Transaction, 'run'>;

/** Runs statements in a transaction, or on a connection outside of one. */
export const runOn = async (
  target: StatementTarget,
  statements: readonly Statement[],
  options?: { commit: boolean },
): Promise<StatementResult[]> =>
  target instanceof PooledConnection ? runStatements(target, statements) : target.run(statements, options);
