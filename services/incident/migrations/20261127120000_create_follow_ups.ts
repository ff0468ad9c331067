import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  const moment = { precision: 3 };
  await knex.schema.createTable('follow_ups', (table) => {
    table.bigIncrements('id');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    table.bigInteger('revision').notNullable();
    table.text('external_id').comment('in the system that an import brought it from');
    table.text('title').notNullable();
    table.text('description').notNullable();
    table.specificType('texts_folded', 'text[] collate "C"').notNullable().comment('title and description');
    table.text('owner').notNullable().comment('the ID of a user, or a name that an import has kept; empty: nobody');
    table.date('due_on');
    table.text('status').notNullable();
    table.text('external_url').notNullable();
    table.timestamp('created_at', moment).notNullable();
    table.text('created_by').notNullable();
    table.timestamp('completed_at', moment);
    table.timestamp('updated_at', moment).notNullable();
    table.unique(['incident_id', 'external_id']);
  });
  // The order of lists, of each status.
  const order = `status, (coalesce(due_on, 'infinity'::date)), id`;
  await knex.raw(`create index follow_ups_by_due_date on follow_ups (workspace_id, ${order})`);
  await knex.raw(`create index follow_ups_by_owner on follow_ups (workspace_id, owner, ${order})`);
  await knex.raw('create index follow_ups_to_fold on follow_ups (id) where not is_folded(texts_folded)');
}
