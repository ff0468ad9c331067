import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

/** Holds all that statistics of durations read. A create writes no entry: nobody has acted, and nothing has an end yet. */
export async function up(knex: Knex): Promise<void> {
  await createIndexConcurrently(knex, {
    name: 'incidents_active_with_a_duration',
    on: `incidents (workspace_id, created_at)
      include (service, team_id, severity, status, impact_started_at, first_reported_at, first_responded_at,
        first_acted_at, recovered_at, ended_at)
      where archived_at is null and (first_responded_at is not null or first_acted_at is not null
        or recovered_at is not null or ended_at is not null)`,
  });
  await knex.raw('drop index concurrently if exists incidents_active_with_an_end');
}
