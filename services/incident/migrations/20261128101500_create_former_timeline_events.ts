import type { Knex } from '@tocsin/postgres';

const FOLDED = ['source_folded', 'type_folded', 'tags_folded', 'texts_folded'];

/** What timeline events were before they were changed or deleted. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table former_timeline_events (
      seq bigserial primary key,
      like timeline_events,
      deleted_at timestamptz(3),
      deleted_by text,
      deleted_key_name text,
      deleted_key_prefix text,
      attachments jsonb,
      foreign key (incident_id) references incidents (id) on delete cascade
    )`);
  await knex.schema.alterTable('former_timeline_events', (table) => {
    table.dropColumns(...FOLDED);
    table.index(['id', 'seq']);
    table.index('incident_id');
  });
  await knex.raw(`
    create index former_timeline_events_deleted on former_timeline_events (incident_id, seq)
    where deleted_at is not null`);
  await knex.raw(`comment on column former_timeline_events.deleted_at is 'null: it was changed then'`);
  await knex.raw(`
    comment on column former_timeline_events.attachments is 'rows of timeline_attachments, of a deleted event'`);
}
