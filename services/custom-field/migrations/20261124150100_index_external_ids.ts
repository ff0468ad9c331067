import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export const up = async (knex: Knex): Promise<void> =>
  createIndexConcurrently(knex, {
    name: 'definitions_by_external_id',
    on: 'definitions (workspace_id, external_id) where external_id is not null',
  });
