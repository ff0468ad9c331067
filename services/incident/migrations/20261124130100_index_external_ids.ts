import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export const up = async (knex: Knex): Promise<void> =>
  createIndexConcurrently(knex, {
    name: 'incidents_by_external_id',
    on: 'incidents (workspace_id, external_id) where external_id is not null',
    unique: true,
  });
