import type pg from 'pg';
import { type Mrr, mrrParts } from '../../../services/incident/src/administration.ts';

/** Incidents in one statement. */
const BATCH = 20_000;

/** Fills `incident_mrr` from the revenue of the incidents, as the incident service does. @returns the number of rows */
export async function seedRevenue(client: pg.Client): Promise<number> {
  let inserted = 0;
  for (let after = '0'; ;) {
    const { rows } = await client.query<{ workspace_id: string; id: string; mrr: Mrr }>(
      'select workspace_id, id, mrr from incidents where id > $1 and mrr is not null order by id limit $2',
      [after, BATCH],
    );
    const last = rows.at(-1);
    if (last === undefined) return inserted;
    after = last.id;
    const parts = rows.flatMap(({ workspace_id, id, mrr }) =>
      mrrParts(mrr).map((part) => ({ workspace_id, id, ...part })),
    );
    await client.query(
      `insert into incident_mrr (workspace_id, incident_id, currencies, currency, amount_minor, total_minor)
       select workspace_id, incident_id, currencies, currency, amount_minor, total_minor
       from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::numeric[], $6::numeric[])
         as part (workspace_id, incident_id, currencies, currency, amount_minor, total_minor)`,
      [
        parts.map(({ workspace_id }) => workspace_id),
        parts.map(({ id }) => id),
        parts.map(({ currencies }) => currencies),
        parts.map(({ currency }) => currency),
        parts.map(({ amount_minor }) => amount_minor),
        parts.map(({ total_minor }) => total_minor),
      ],
    );
    inserted += parts.length;
  }
}
