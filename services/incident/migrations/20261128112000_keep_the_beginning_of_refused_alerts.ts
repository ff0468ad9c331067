import type { Knex } from '@tocsin/postgres';

/** Most refusals are faults of a template, which its author cannot see. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('alert_notifications', (table) => {
    table.text('body_start').notNullable().defaultTo('').comment('the first characters of a refused body');
  });
}
