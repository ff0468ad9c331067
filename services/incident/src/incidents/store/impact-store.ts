import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { mrrCurrencies } from './mrr-currencies.ts';
import { type Mrr, mrrParts } from './mrr-parts.ts';

/** The impact of an incident on customers and revenue at a time. */
export interface CustomerImpact {
  affectedCustomers: number;
  /** Monthly recurring revenue at stake. */
  mrr: Mrr;
  asOf: Instant;
}

const PUT_PARTS = `
  with deleted as (delete from incident_mrr where incident_id = ? and currency <> all(?))
  insert into incident_mrr (workspace_id, incident_id, currencies, currency, amount_minor, total_minor)
  select ?, ?, currencies, currency, amount_minor, total_minor
  from jsonb_to_recordset(?::jsonb) as part (currencies text, currency text, amount_minor numeric, total_minor numeric)
  on conflict (incident_id, currency) do update set
    currencies = excluded.currencies, amount_minor = excluded.amount_minor, total_minor = excluded.total_minor`;

export function impactStore(trx: Knex.Transaction, workspaceId: number) {
  return {
    /** Stores the impact unless a newer one is stored. @returns false if the workspace has no such incident */
    async put(incidentId: number, { affectedCustomers, mrr, asOf }: CustomerImpact): Promise<boolean> {
      const incident = () => trx('incidents').where({ workspace_id: workspaceId, id: incidentId });
      const written = await incident()
        .whereRaw('(impact_as_of is null or impact_as_of <= ?)', [asOf])
        .update({ affected_customers: affectedCustomers, mrr: JSON.stringify(mrr), impact_as_of: asOf });
      if (written !== 1) return (await incident().first('id')) !== undefined;
      await mrrCurrencies(trx, workspaceId).add(mrr.map(({ currency }) => currency));
      // The update above locks the incident's row.
      const parts = mrrParts(mrr);
      const currencies = parts.map(({ currency }) => currency);
      await trx.raw(PUT_PARTS, [incidentId, currencies, workspaceId, incidentId, JSON.stringify(parts)]);
      return true;
    },
  };
}
