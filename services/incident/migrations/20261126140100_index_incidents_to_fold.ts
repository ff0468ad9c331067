import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

/** The incidents whose texts are to be folded again (ADR 68): few or none, so the index is small. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'incidents_to_fold',
    on: `incidents (id) where title_folded is null or impact_summary_folded is null
      or not is_folded(region_keys || array[title_folded, impact_summary_folded, service_folded])`,
  });
}
