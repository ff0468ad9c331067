import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

/** Not unique: earlier releases allowed duplicates (ADR 56). */
export const up = async (knex: Knex): Promise<void> =>
  createIndexConcurrently(knex, {
    name: 'services_by_external_id',
    on: 'services (workspace_id, external_id) where external_id is not null',
  });
