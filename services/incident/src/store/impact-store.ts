import type { Instant, Knex } from '@tocsin/runtime';
import { mrrCurrencies } from './mrr-currencies.ts';

/** What an incident costs its workspace's customers and the workspace, at a time. */
export interface CustomerImpact {
  affectedCustomers: number;
  /** Monthly recurring revenue at stake. */
  mrr: readonly { currency: string; amount_minor: number }[];
  asOf: Instant;
}

export function impactStore(trx: Knex.Transaction, workspaceId: number) {
  return {
    /** Unless something newer is there already. @returns false for an incident that the workspace does not have */
    async put(incidentId: number, { affectedCustomers, mrr, asOf }: CustomerImpact): Promise<boolean> {
      const incident = () => trx('incidents').where({ workspace_id: workspaceId, id: incidentId });
      const written = await incident()
        .whereRaw('(impact_as_of is null or impact_as_of <= ?)', [asOf])
        .update({ affected_customers: affectedCustomers, mrr: JSON.stringify(mrr), impact_as_of: asOf });
      if (written === 1) await mrrCurrencies(trx, workspaceId).add(mrr.map(({ currency }) => currency));
      return written === 1 || (await incident().first('id')) !== undefined;
    },
  };
}
