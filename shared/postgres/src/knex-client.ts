import knexFactory, { type Knex } from 'knex';
import PostgresClient from 'knex/lib/dialects/postgres/index.js';
import type { StatementResult } from './pipeline.ts';
import type { AcquireOptions, Pool } from './pool.ts';
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

  override async acquireConnection(options?: AcquireOptions): Promise<StatementTarget> {
    return this.#transaction ?? this.connections.target(options);
  }

  override async releaseConnection(target: StatementTarget): Promise<void> {
    if (target instanceof PooledConnection) this.connections.release(target);
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
    if (this.#transaction !== undefined) throw new Error('a transaction cannot begin in another one');
    const { connections } = this;
    return connections.transaction(
      async (transaction) => work(knexInTransaction(connections, transaction)),
      options,
    ) as unknown as Knex.Transaction;
  }

  override async destroy(): Promise<void> {
    await this.connections.close();
  }
}

/** What statements that are not composed need of knex's client. */
export type StatementClient = Pick<KnexClient, 'acquireConnection' | 'releaseConnection'>;

/**
 * knex for the statements of a transaction. To make it takes longer than most of them, so it is made for the first one that
 * is composed: prepared ones need its client only.
 */
function knexInTransaction(connections: Pool, transaction: Transaction): Knex.Transaction {
  const client: StatementClient = {
    acquireConnection: async () => transaction,
    releaseConnection: async () => undefined,
  };
  let knex: Knex | undefined;
  const make = () => (knex ??= knexOn({ connections, transaction }));
  return new Proxy((() => undefined) as unknown as Knex.Transaction, {
    apply: (_target, _this, [table]: [string]) => make()(table),
    get: (_target, name) => {
      if (name === 'client') return client;
      const value: unknown = Reflect.get(make(), name);
      return typeof value === 'function' ? (value.bind(knex) as unknown) : value;
    },
  });
}

export const knexOn = (options: Pick<KnexClientConfig, 'connections' | 'transaction'>): Knex =>
  knexFactory({ client: KnexClient, ...options });
