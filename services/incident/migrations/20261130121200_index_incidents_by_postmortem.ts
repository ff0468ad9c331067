import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // The state comes last, so that one walk in the order of lists finds several states.
  await createIndexConcurrently(knex, {
    name: 'incidents_with_a_postmortem',
    on: 'incidents (workspace_id, created_at, id, postmortem_state) where postmortem_state is not null',
  });
}
