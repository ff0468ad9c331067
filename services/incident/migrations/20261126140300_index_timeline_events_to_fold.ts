import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

/** The events whose texts are to be folded again (ADR 68): few or none, so the index is small. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'timeline_events_to_fold',
    on: `timeline_events (id) where not is_folded(texts_folded || array[source_folded, type_folded])`,
  });
}
