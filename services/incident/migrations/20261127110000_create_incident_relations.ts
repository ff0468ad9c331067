import type { Knex } from '@tocsin/postgres';

/** A relation has two rows, one as each of its incidents sees it, with the same ID. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create sequence incident_relations_id_seq');
  await knex.schema.createTable('incident_relations', (table) => {
    table.bigInteger('id').notNullable();
    table.bigInteger('incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    table.text('type').notNullable().comment('what the incident is to the related one');
    table.bigInteger('related_id').notNullable().index().references('id').inTable('incidents').onDelete('CASCADE');
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table.text('created_by').notNullable();
    table.primary(['incident_id', 'type', 'related_id']);
    table.unique(['id', 'incident_id']);
  });
  await knex.raw('alter sequence incident_relations_id_seq owned by incident_relations.id');
}
