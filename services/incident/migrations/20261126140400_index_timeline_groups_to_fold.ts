import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

/** The groups whose names are to be folded again (ADR 68): few or none, so the index is small. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'timeline_groups_to_fold',
    on: `timeline_groups (workspace_id, id) where not is_folded(array[name_folded])`,
  });
}
