import type { Knex } from '@tocsin/postgres';

/** The currencies that a workspace has ever received revenue in. */
export function mrrCurrencies(db: Knex, workspaceId: number) {
  return {
    async add(currencies: readonly string[]): Promise<void> {
      if (currencies.length === 0) return;
      await db('mrr_currencies')
        .insert([...new Set(currencies)].sort().map((currency) => ({ workspace_id: workspaceId, currency })))
        .onConflict(['workspace_id', 'currency'])
        .ignore();
    },

    async list(): Promise<string[]> {
      const rows = await db('mrr_currencies')
        .where({ workspace_id: workspaceId })
        .select<{ currency: string }[]>('currency');
      return rows.map(({ currency }) => currency);
    },
  };
}
