import type { Knex } from '@tocsin/postgres';

/** How many incidents that are not archived name each text as their service. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('service_references', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.specificType('value', 'text collate "C"').notNullable();
    table.bigInteger('incidents').notNullable();
    table
      .specificType('rank', 'bigint generated always as (least(incidents, 1000)) stored')
      .comment('an index on a number that every create raises would grow with each of them');
    table.primary(['workspace_id', 'value']);
  });
  // Room for the next version of a row in its page, so that no index changes.
  await knex.raw('alter table service_references set (fillfactor = 70)');
  await knex.raw(`
    insert into service_references (workspace_id, value, incidents)
    select workspace_id, service, count(*) from incidents
    where archived_at is null and service <> '' group by workspace_id, service`);
  await knex.raw('create index service_references_by_rank on service_references (workspace_id, rank desc, value)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('service_references');
}
