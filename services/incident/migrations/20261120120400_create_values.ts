import type { Knex } from '@tocsin/postgres';

/**
 * The custom-field values of incidents, one row each, beside the jsonb that the resource shows: lists filter and sort by
 * the typed columns, of which a row fills those of its field's type (`store/value-row.ts`).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('incident_values', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable().references('id').inTable('incidents').onDelete('CASCADE');
    table.bigInteger('field_id').notNullable();
    table.text('slug').notNullable();
    table.text('field_type').notNullable();
    table.jsonb('value').notNullable().comment('as it was sent');
    table.text('text_value').comment('string, select; the first of multi_select');
    table.specificType('text_folded', 'text collate "C"').comment('text_value, folded by domain/fold.ts');
    table.specificType('text_grams', 'bigint[]').comment('string; the grams of text_folded by store/text-grams.ts');
    table.specificType('number_value', 'numeric').comment('number; the amount of monetary');
    table.specificType('currency', 'text collate "C"').comment('monetary');
    table.boolean('boolean_value').comment('boolean');
    table.date('date_value').comment('date');
    table.time('time_value').comment('time');
    table.timestamp('moment_value', { precision: 3 }).comment('datetime');
    table.specificType('options', 'text[]').comment('multi_select, in the order sent');
    table.specificType('option_keys', 'text[]').comment("options, each '<field_id> <its beginning>'");
    table.timestamp('updated_at', { precision: 3 }).notNullable();
    table.text('updated_by').notNullable();
    table.primary(['incident_id', 'field_id']);
  });
  // Texts are indexed, and sorted, by their beginning: a whole one may be longer than an index entry or a cursor can be.
  const keys = {
    text: ['left(text_folded, 128)', 'text_folded'],
    number: ['number_value', 'number_value'],
    money: ['currency, number_value', 'currency'],
    boolean: ['boolean_value', 'boolean_value'],
    date: ['date_value', 'date_value'],
    time: ['time_value', 'time_value'],
    moment: ['moment_value', 'moment_value'],
  } as const;
  for (const [name, [key, column]] of Object.entries(keys)) {
    await knex.raw(`
      create index incident_values_by_${name} on incident_values (workspace_id, field_id, ${key}, incident_id)
      where ${column} is not null`);
  }
  // A GIN index takes no other column: the keys begin with the field, so that a search stays within it.
  await knex.raw(`
    create index incident_values_by_option on incident_values using gin (option_keys) where options is not null`);
  // What was written last waits in a list, which every search reads: a short one costs searches less than it saves writes.
  await knex.raw(`
    create index incident_values_by_gram on incident_values using gin (text_grams)
    with (gin_pending_list_limit = 1024) where text_grams is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('incident_values');
}
