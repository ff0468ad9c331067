import { addWorkspaceToOutbox } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await addWorkspaceToOutbox(knex);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('outbox', (table) => void table.dropColumn('workspace_id'));
}
