import knexFactory, { type Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import type { StatementResult } from './pipeline.ts';
import type { Pool } from './pool.ts';
import { PooledConnection } from './pooled-connection.ts';
import { runOn, type StatementTarget, type Transaction, type TransactionOptions } from './transaction.ts';

interface KnexClientConfig extends Knex.Config {
  connections: Pool;
  /** In which all statements run; by default each runs on a connection of its own. */
  transaction?: Transaction;
}

/** What knex composes, and where it expects the result. */
interface ComposedStatement {
  sql: string;
  bindings?: unknown[];
  response?: StatementResult;
}

/** knex composes the statements, and this client runs them on our connections and in our transactions. */
export class KnexClient extends PostgresClient {
  readonly connections: Pool;
  readonly #transaction: Transaction | undefined;

  constructor(config: KnexClientConfig) {
    super(config);
    this.connections = config.connections;
    this.#transaction = config.transaction;
  }

  override async acquireConnection(): Promise<StatementTarget> {
    return this.#transaction ?? this.connections.target();
  }

  override async releaseConnection(target: StatementTarget): Promise<void> {
    if (target instanceof PooledConnection) this.connections.release(target);
  }

  override async query(target: StatementTarget, statement: ComposedStatement): Promise<unknown> {
    const text = this.positionBindings(statement.sql) as string;
    try {
      const [response] = await runOn(target, [{ name: '', text, values: statement.bindings ?? [] }]);
      return { ...statement, response };
    } catch (error) {
      // Without the values, because messages are logged.
      if (Error.isError(error)) error.message = `${text} - ${error.message}`;
      throw error;
    }
  }

  override transaction(work: (trx: Knex.Transaction) => PromiseLike<unknown>, options?: TransactionOptions) {
    if (this.#transaction !== undefined) throw new Error('a transaction cannot begin in another one');
    const { connections } = this;
    return connections.transaction(
      async (transaction) => work(knexOn({ connections, transaction }) as Knex.Transaction),
      options,
    ) as unknown as Knex.Transaction;
  }

  override async destroy(): Promise<void> {
    await this.connections.close();
  }
}

export const knexOn = (options: Pick<KnexClientConfig, 'connections' | 'transaction'>): Knex =>
  knexFactory({ client: KnexClient, ...options });
