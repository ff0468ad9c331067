import knexFactory, { type Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import type { StatementResult } from './pipeline.ts';
import type { AcquireOptions, Pool } from './pool.ts';
import { runOn, type StatementTarget, type TransactionOptions } from './transaction.ts';

/** Runs the statements of a handle, composed or not. */
export interface StatementClient {
  readonly connections: Pool;
  acquireConnection(options?: AcquireOptions): Promise<StatementTarget>;
  releaseConnection(target: StatementTarget): Promise<void>;
  transaction<Result>(
    work: (trx: Knex.Transaction) => PromiseLike<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
}

interface ComposingConfig extends Knex.Config {
  statements: StatementClient;
}

/** What knex composes, and where it expects the result. */
interface ComposedStatement {
  sql: string;
  bindings?: unknown[];
  response?: StatementResult;
}

/** knex composes the statements, and this client runs them on our connections and in our transactions. */
class ComposingClient extends PostgresClient {
  readonly #statements: StatementClient;

  constructor(config: ComposingConfig) {
    super(config);
    this.#statements = config.statements;
  }

  override async acquireConnection(options?: AcquireOptions): Promise<StatementTarget> {
    return this.#statements.acquireConnection(options);
  }

  override async releaseConnection(target: StatementTarget): Promise<void> {
    return this.#statements.releaseConnection(target);
  }

  override async query(target: StatementTarget, statement: ComposedStatement): Promise<unknown> {
    const text = this.positionBindings(statement.sql) as string;
    try {
      const [response] = await runOn(target, [{ text, values: statement.bindings ?? [] }]);
      return { ...statement, response };
    } catch (error) {
      // Without the values, because messages are logged.
      if (Error.isError(error)) error.message = `${text} - ${error.message}`;
      throw error;
    }
  }

  override transaction(work: (trx: Knex.Transaction) => PromiseLike<unknown>, options?: TransactionOptions) {
    return this.#statements.transaction(work, options) as unknown as Knex.Transaction;
  }

  override async destroy(): Promise<void> {
    await this.#statements.connections.close();
  }
}

export function composingKnex(statements: StatementClient): Knex {
  const config: ComposingConfig = { client: ComposingClient, statements };
  return knexFactory(config);
}
