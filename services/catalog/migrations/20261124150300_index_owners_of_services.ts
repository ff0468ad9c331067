import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export const up = async (knex: Knex): Promise<void> =>
  createIndexConcurrently(knex, {
    name: 'services_by_owner',
    on: 'services (workspace_id, owner_team_id) where owner_team_id is not null',
  });
