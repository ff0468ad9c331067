import type { Knex } from '@tocsin/postgres';

/**
 * Timelines. The `folded` columns hold what is found without regard to case, folded by `domain/fold.ts`: a database's own
 * idea of case depends on its locale. They compare by bytes.
 */
export async function up(knex: Knex): Promise<void> {
  const folded = 'text collate "C"';
  const foldedList = 'text[] collate "C"';

  await knex.schema.createTable('timeline_groups', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('id').notNullable().comment('unique in the workspace');
    table.text('name').notNullable();
    table.specificType('name_folded', folded).notNullable();
    table.integer('rank').notNullable();
    table.primary(['workspace_id', 'id']);
  });

  await knex.schema.createTable('timeline_events', (table) => {
    const moment = (name: string) => table.timestamp(name, { precision: 3 });
    table.bigIncrements('id');
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    table.bigInteger('revision').notNullable();
    moment('started_at').notNullable();
    moment('ended_at');
    table.boolean('is_ongoing').notNullable();
    table.bigInteger('group_id');
    table.boolean('is_key').notNullable();
    table.text('source').notNullable();
    table.text('source_ref').notNullable();
    table.text('type').notNullable();
    table.text('icon').notNullable();
    table.text('title').notNullable();
    table.text('body').notNullable();
    table.bigInteger('collaboration_generation').notNullable();
    table.specificType('tags', 'text[]').notNullable();
    table.text('ai_context').notNullable();
    table.text('created_by').notNullable();
    table.bigInteger('comment_count').notNullable().defaultTo(0);
    moment('source_window_started_at');
    moment('source_window_ended_at');
    table.jsonb('evidence_links').notNullable().comment('as the API shows them');
    table.specificType('source_folded', folded).notNullable();
    table.specificType('type_folded', folded).notNullable();
    table.specificType('tags_folded', foldedList).notNullable();
    table.specificType('texts_folded', foldedList).notNullable().comment('all that a search looks into');
    table.index(['incident_id', 'started_at', 'id']);
    table
      .foreign(['workspace_id', 'group_id'], 'timeline_events_group')
      .references(['workspace_id', 'id'])
      .inTable('timeline_groups');
  });
  await knex.raw(`
    create index timeline_events_by_group on timeline_events (workspace_id, group_id) where group_id is not null`);

  await knex.schema.createTable('timeline_attachments', (table) => {
    table.bigIncrements('id');
    table.bigInteger('timeline_event_id').notNullable().references('id').inTable('timeline_events').onDelete('CASCADE');
    table.text('filename').notNullable();
    table.text('storage_key').comment('its path below ATTACHMENT_BASE_URL; null: not to be had');
    table.text('content_type').notNullable();
    table.bigInteger('size_bytes').notNullable();
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table.text('created_by').notNullable();
    table.index(['timeline_event_id', 'id']);
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('timeline_attachments').dropTable('timeline_events').dropTable('timeline_groups');
}
