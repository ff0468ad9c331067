import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

/** The values whose texts are to be folded again (ADR 68): few or none, so the index is small. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'incident_values_to_fold',
    on: `incident_values (incident_id, field_id) where not is_folded(array[text_folded])`,
  });
}
