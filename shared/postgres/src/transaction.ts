import { DatabaseCallError } from './database-call-error.ts';
import type { PreparedStatement, StatementResult } from './pipeline.ts';
import type { PooledConnection } from './pooled-connection.ts';
import { runStatements } from './run-statements.ts';

export interface TransactionOptions {
  isolationLevel?: 'read committed' | 'repeatable read' | 'serializable';
  readOnly?: boolean;
}

const BEGIN: PreparedStatement = { name: 'BEGIN', text: 'BEGIN', values: [] };
const COMMIT: PreparedStatement = { name: 'COMMIT', text: 'COMMIT', values: [] };
const ROLLBACK: PreparedStatement = { name: 'ROLLBACK', text: 'ROLLBACK', values: [] };

function beginOf({ isolationLevel, readOnly = false }: TransactionOptions): PreparedStatement {
  if (isolationLevel === undefined && !readOnly) return BEGIN;
  const level = isolationLevel === undefined ? '' : ` ISOLATION LEVEL ${isolationLevel.toUpperCase()}`;
  return { ...BEGIN, name: '', text: `BEGIN${level}${readOnly ? ' READ ONLY' : ''}` };
}

/** A transaction on a connection. BEGIN is sent with its first statements, and COMMIT may be sent with its last ones. */
export class Transaction {
  readonly #connection: PooledConnection;
  readonly #begin: PreparedStatement;
  /** The first statements; undefined until they are sent. */
  #first: Promise<unknown> | undefined;
  /** Nothing may follow: it has been committed or rolled back, or is about to be. */
  #isOver = false;

  constructor(connection: PooledConnection, options: TransactionOptions) {
    this.#connection = connection;
    this.#begin = beginOf(options);
  }

  /**
   * Runs statements in one round trip. If the first ones fail, all later ones fail with their error: they must not run
   * outside the transaction.
   * @param options.commit commits it in the same round trip
   */
  async run(statements: readonly PreparedStatement[], { commit = false } = {}): Promise<StatementResult[]> {
    const isFirst = this.#first === undefined;
    if (!isFirst) await this.#first;
    if (this.#isOver) throw new Error('the transaction is over');
    const sent = [...(isFirst ? [this.#begin] : []), ...statements, ...(commit ? [COMMIT] : [])];
    const running = runStatements(this.#connection, sent, { mayWrite: commit });
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
      const isOpen = !isLost && this.#connection.getTransactionStatus() !== 'I';
      if (isOpen) await runStatements(this.#connection, [ROLLBACK], { mayWrite: false });
    } catch {
      // What made the transaction fail says more.
    }
  }
}

/** Runs statements in a transaction, or on a connection outside of one. */
export const runOn = async (
  target: PooledConnection | Transaction,
  statements: readonly PreparedStatement[],
  options?: { commit: boolean },
): Promise<StatementResult[]> =>
  target instanceof Transaction ? target.run(statements, options) : runStatements(target, statements);
