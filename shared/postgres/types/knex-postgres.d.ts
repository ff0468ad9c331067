declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex';

  /** knex's client for PostgreSQL, which its types omit; only the members that we override. */
  export default class PostgresClient extends Knex.Client {
    acquireConnection(): Promise<unknown>;
    releaseConnection(connection: unknown): Promise<void>;
    validateConnection(connection: unknown): Promise<boolean>;
    transaction(
      container: (trx: Knex.Transaction) => unknown,
      config: unknown,
      outerTransaction: unknown,
    ): Knex.Transaction;
    destroy(callback?: (error?: Error) => void): Promise<void>;
    _query(connection: unknown, statement: unknown): Promise<unknown>;
  }
}
