import type { Knex } from '@tocsin/postgres';
import { planConfiguration as plan } from '../src/administration.ts';

/** Plans a change of the configuration as the administration command does, without a catalog. */
export async function planConfiguration(database: Knex, workspaceId: number, part: unknown) {
  const { apply } = await plan(database, {
    workspace: { id: workspaceId, slug: 'acme', is_demo: false },
    part,
    tiers: {
      read: async () => ({ version: 0, tiers: [], prepared: null }),
      prepare: async () => ({ outcome: 'prepared' }),
    },
  });
  return { apply: async (trx: Knex.Transaction) => (await apply(trx)).lists };
}

/** Changes the configuration as the administration command does. @returns its lists */
export async function configure(database: Knex, workspaceId: number, part: unknown) {
  const { apply } = await planConfiguration(database, workspaceId, part);
  return database.transaction(apply);
}
