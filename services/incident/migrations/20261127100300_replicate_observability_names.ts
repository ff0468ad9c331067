import type { Knex } from '@tocsin/postgres';

/** The replica of the catalog is read again from its beginning, so that the names of all services are here. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('replica_services', (table) => {
    table.specificType('observability_names', 'text[]').notNullable().defaultTo('{}');
  });
  await knex('replica_versions').where({ owner: 'catalog' }).delete();
}
