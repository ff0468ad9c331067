import { belongsTo, type Knex } from '@tocsin/postgres';

/** Pictures are attachments: they have IDs of the same sequence, so that the attachment of an event has that of its picture. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('pictures', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('id').notNullable();
    table.primary(['workspace_id', 'id']);
    table.bigInteger('incident_id').notNullable();
    table.bigInteger('timeline_event_id').comment('the event that has it, also if that is deleted; null: none');
    table.timestamp('unused_since', { precision: 3 }).comment('null: an event has it');
    table.text('filename').notNullable();
    table.text('content_type').notNullable();
    table.bigInteger('size_bytes').notNullable();
    table.bigInteger('width').notNullable();
    table.bigInteger('height').notNullable();
    table.specificType('content', 'bytea').notNullable();
    table.specificType('thumbnail', 'bytea').notNullable().comment('WebP');
    table.specificType('source_digest', 'bytea').comment('SHA-256 of the bytes that an import gave; null: uploaded');
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table.text('created_by').notNullable();
    belongsTo(table, 'incidents', 'incident_id');
    table.index(['workspace_id', 'incident_id', 'id']);
    table.index(['unused_since'], 'pictures_unused', { predicate: knex.whereNotNull('unused_since') });
  });
  // They are compressed already.
  await knex.raw(
    'alter table pictures alter column content set storage external, alter column thumbnail set storage external',
  );
}
