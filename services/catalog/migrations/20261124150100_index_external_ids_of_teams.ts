import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export const up = async (knex: Knex): Promise<void> =>
  createIndexConcurrently(knex, {
    name: 'teams_by_external_id',
    on: 'teams (workspace_id, external_id) where external_id is not null',
  });
