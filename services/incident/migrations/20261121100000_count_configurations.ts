import type { Knex } from '@tocsin/postgres';

/**
 * The version of a workspace's configuration is in the row that every create locks anyway: the create compares it there, and
 * writes nothing that was judged by an older configuration.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('incident_counters', (table) => {
    table
      .bigInteger('configuration_version')
      .notNullable()
      .defaultTo(0)
      .comment("counts the changes of the workspace's row in configurations");
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.alterTable('incident_counters', (table) => {
    table.dropColumn('configuration_version');
  });
}
