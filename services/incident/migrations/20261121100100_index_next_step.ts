import type { Knex } from '@tocsin/postgres';

/** When the next step is due is asked for across all workspaces; the index for claims begins with the workspace. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create index provisioning_steps_next on provisioning_steps (due_at) where due_at is not null');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index provisioning_steps_next');
}
