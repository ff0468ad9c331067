import { belongsTo, type Knex } from '@tocsin/postgres';

const KEY = '{ name, prefix } of the API key; null: not known';

/** The written post-mortem of an incident, and what it was (ADR 127). */
export async function up(knex: Knex): Promise<void> {
  const moment = { precision: 3 };
  const addVersion = (table: Knex.CreateTableBuilder) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('incident_id').notNullable();
    table.bigInteger('revision').notNullable();
    table.text('state').notNullable();
    table.jsonb('sections').notNullable().comment('[{ key, title, body }], of which bodies have placeholders');
    table.timestamp('updated_at', moment).notNullable();
    table.text('updated_by').notNullable();
    table.jsonb('updated_by_key').comment(KEY);
    belongsTo(table, 'incidents', 'incident_id');
  };
  await knex.schema.createTable('postmortems', (table) => {
    addVersion(table);
    table.text('template').notNullable().comment('that it began from; empty: the built-in one');
    table.timestamp('created_at', moment).notNullable();
    table.text('created_by').notNullable();
    table.jsonb('created_by_key').comment(KEY);
    table.timestamp('in_review_at', moment).comment('null: it is a draft, or was published without a review');
    table.text('in_review_by');
    table.timestamp('published_at', moment).comment('null: it is not');
    table.text('published_by');
    table.primary(['workspace_id', 'incident_id']);
  });
  await knex.schema.createTable('former_postmortems', (table) => {
    addVersion(table);
    table.primary(['workspace_id', 'incident_id', 'revision']);
  });
}
