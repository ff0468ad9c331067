import type { Knex } from '@tocsin/postgres';

/** About how many bytes the responses of idempotency keys have, which are deleted by their age. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('key_storage', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.timestamp('hour', { precision: 3 }).notNullable().index().comment('in which the keys were used');
    table.bigInteger('bytes').notNullable();
    table.primary(['workspace_id', 'hour']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('key_storage');
}
