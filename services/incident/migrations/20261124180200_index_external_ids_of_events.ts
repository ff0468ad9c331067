import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

/** An import finds what it has imported before. */
export const up = async (knex: Knex): Promise<void> =>
  createIndexConcurrently(knex, {
    name: 'timeline_events_by_external_id',
    on: 'timeline_events (incident_id, external_id) where external_id is not null',
    unique: true,
  });
