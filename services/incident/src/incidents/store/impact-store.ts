import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { byCodePoints } from '../../shared/domain/compare-text.ts';

/** The impact of an incident on customers and revenue at a time. */
interface CustomerImpact {
  affectedCustomers: number;
  /** Monthly recurring revenue at stake. */
  mrr: Mrr;
  asOf: Instant;
}

const PUT_PARTS = `
  with deleted as (delete from incident_mrr where workspace_id = $1 and incident_id = $2 and currency <> all($3))
  insert into incident_mrr (workspace_id, incident_id, currencies, currency, amount_minor, total_minor)
  select $1, $2, currencies, currency, amount_minor, total_minor
  from jsonb_to_recordset($4::jsonb) as part (currencies text, currency text, amount_minor numeric, total_minor numeric)
  on conflict (workspace_id, incident_id, currency) do update set
    currencies = excluded.currencies, amount_minor = excluded.amount_minor, total_minor = excluded.total_minor`;

export function impactStore(trx: Knex.Transaction, workspaceId: number) {
  return {
    /** Stores the impact unless a newer one is stored. @returns false if the workspace has no such incident */
    async put(incidentId: number, { affectedCustomers, mrr, asOf }: CustomerImpact): Promise<boolean> {
      const written = await query(trx, {
        name: 'put-customer-impact',
        text: `update incidents set affected_customers = $3, mrr = $4, impact_as_of = $5
          where workspace_id = $1 and id = $2 and (impact_as_of is null or impact_as_of <= $5) returning id`,
        values: [workspaceId, incidentId, affectedCustomers, JSON.stringify(mrr), asOf],
      });
      if (written.length === 0) {
        const incidents = await query(trx, {
          name: 'find-incident-with-newer-impact',
          text: 'select id from incidents where workspace_id = $1 and id = $2',
          values: [workspaceId, incidentId],
        });
        return incidents.length === 1;
      }
      await mrrCurrencies(trx, workspaceId).add(mrr.map(({ currency }) => currency));
      // The update above locks the incident's row.
      const parts = mrrParts(mrr);
      const currencies = parts.map(({ currency }) => currency);
      await query(trx, {
        name: 'put-mrr-parts',
        text: PUT_PARTS,
        values: [workspaceId, incidentId, currencies, JSON.stringify(parts)],
      });
      return true;
    },
  };
}

/** The currencies that a workspace has ever received revenue in. */
export function mrrCurrencies(db: Knex, workspaceId: number) {
  return {
    async add(currencies: readonly string[]): Promise<void> {
      if (currencies.length === 0) return;
      await query(db, {
        name: 'add-mrr-currencies',
        text: `insert into mrr_currencies (workspace_id, currency)
          select $1::bigint, currency from unnest((select $2::text[])) as added (currency)
          on conflict (workspace_id, currency) do nothing`,
        values: [workspaceId, [...new Set(currencies)].sort()],
      });
    },

    async list(): Promise<string[]> {
      const rows = await query<{ currency: string }>(db, {
        name: 'list-mrr-currencies',
        text: 'select currency from mrr_currencies where workspace_id = $1',
        values: [workspaceId],
      });
      return rows.map(({ currency }) => currency);
    },
  };
}

/** An incident's monthly recurring revenue at stake, as received. A currency may occur several times. */
type Mrr = readonly { currency: string; amount_minor: number }[];

/** A row of `incident_mrr` without its incident. Amounts are whole numbers of any size, as text. */
interface MrrPart {
  currencies: string;
  currency: string;
  amount_minor: string;
  total_minor: string;
}

/** Replaces a set of more currencies than fit into an index entry. */
export const TOO_MANY = '*';
const MAX_CURRENCIES = 100;

/** Splits revenue by currency: one part for each currency with a positive amount, or one part of 0 if there is none. */
function mrrParts(mrr: Mrr): MrrPart[] {
  const amounts = new Map<string, bigint>();
  for (const { currency, amount_minor } of mrr) {
    amounts.set(currency, (amounts.get(currency) ?? 0n) + BigInt(amount_minor));
  }
  if (amounts.size > MAX_CURRENCIES) return [emptyPart(TOO_MANY)];
  const sorted = [...amounts].sort(([a], [b]) => byCodePoints(a, b));
  const adding = sorted.filter(([, amount]) => amount > 0n);
  const currencies = writeCurrencies({
    adding: adding.map(([currency]) => currency),
    idle: sorted.filter(([, amount]) => amount === 0n).map(([currency]) => currency),
  });
  const total = adding.reduce((sum, [, amount]) => sum + amount, 0n);
  const parts = adding.map(([currency, amount]) => ({
    currencies,
    currency,
    amount_minor: String(amount),
    total_minor: String(total),
  }));
  return parts.length === 0 ? [emptyPart(currencies)] : parts;
}

const emptyPart = (currencies: string): MrrPart => ({ currencies, currency: '', amount_minor: '0', total_minor: '0' });

/** The currencies of an incident's revenue, sorted. */
interface Currencies {
  /** Those with a positive amount. */
  adding: string[];
  /** Those with an amount of 0. */
  idle: string[];
}

/** In the form of the column `currencies`: `EUR USD/GBP`. */
const writeCurrencies = ({ adding, idle }: Currencies) =>
  `${adding.join(' ')}${idle.length === 0 ? '' : `/${idle.join(' ')}`}`;

export function readCurrencies(currencies: string): Currencies {
  const [adding = '', idle = ''] = currencies.split('/');
  return { adding: splitCurrencies(adding), idle: splitCurrencies(idle) };
}

const splitCurrencies = (currencies: string) => currencies.split(' ').filter((currency) => currency !== '');
