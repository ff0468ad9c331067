import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type { StatementClient } from './composing-client.ts';
import type { Pool } from './pool.ts';
import { PooledConnection } from './pooled-connection.ts';
import type { Transaction } from './transaction.ts';

const statementClient = (connections: Pool, transaction?: Transaction): StatementClient => ({
  connections,
  acquireConnection: async (options) => transaction ?? connections.target(options),
  releaseConnection: async (target) => {
    if (target instanceof PooledConnection) connections.release(target);
  },
  transaction: async (work, options) => {
    if (transaction !== undefined) throw new Error('a transaction cannot begin in another one');
    return connections.transaction(async (begun) => work(knexOn(connections, begun)), options);
  },
});

const require = createRequire(import.meta.url);

/**
 * knex on the connections of a pool, or in a transaction. Its code is loaded, and an instance made, for the first statement
 * that it composes: the code takes as long as a whole command of the operator, and an instance longer than most
 * transactions. Prepared statements, transactions and the end of the pool need neither.
 */
export function knexOn(connections: Pool, transaction?: Transaction): Knex.Transaction {
  const client = statementClient(connections, transaction);
  const withoutKnex = new Map<unknown, unknown>([
    ['client', client],
    ['transaction', client.transaction],
    ['destroy', async () => connections.close()],
    // Async functions return handles.
    ['then', undefined],
  ]);
  let knex: Knex | undefined;
  const make = (): Knex => {
    const { composingKnex } = require('./composing-client.ts') as typeof import('./composing-client.ts');
    return (knex = composingKnex(client));
  };
  return new Proxy((() => undefined) as unknown as Knex.Transaction, {
    apply: (_target, _this, [table]: [string]) => (knex ?? make())(table),
    get: (_target, name) => {
      if (withoutKnex.has(name)) return withoutKnex.get(name);
      const instance = knex ?? make();
      const value: unknown = Reflect.get(instance, name);
      return typeof value === 'function' ? (value.bind(instance) as unknown) : value;
    },
  });
}
