import { createIndexConcurrently, type Knex } from '@tocsin/postgres';

export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // With the team, so that a page reads no more of a user's memberships than it shows.
  await createIndexConcurrently(knex, {
    name: 'team_members_by_user',
    on: 'team_members (workspace_id, user_id, team_id)',
  });
}
