import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

/** For the sort of lists by the start of the impact, and for ranges of it. */
export const up = async (knex: Knex): Promise<void> =>
  createIndexConcurrently(knex, {
    name: 'incidents_active_by_impact_started_at',
    on: 'incidents (workspace_id, impact_started_at, id) where archived_at is null',
  });
