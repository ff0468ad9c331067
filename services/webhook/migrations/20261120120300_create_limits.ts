import type { Knex } from '@tocsin/postgres';

/** The limits on outgoing requests, shared by all replicas. Whoever changes anything here holds the row of `dispatcher`. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('dispatcher', (table) => {
    table.specificType('id', 'smallint').primary();
    table.bigInteger('last_workspace_id').notNullable().defaultTo(0).comment('the next claim begins after it');
  });
  await knex('dispatcher').insert({ id: 1 });

  await knex.schema.createTable('windows', (table) => {
    table.timestamp('minute', { precision: 3 }).notNullable();
    table.text('scope').notNullable();
    table.text('key').notNullable();
    table.integer('used').notNullable();
    table.primary(['minute', 'scope', 'key']);
  });

  await knex.schema.createTable('slots', (table) => {
    table.uuid('token').primary();
    table.text('kind').notNullable().checkIn(['delivery', 'check']);
    table.bigInteger('workspace_id').notNullable();
    table.text('host').notNullable();
    table.text('ip').comment('null: not resolved yet, and never before');
    table.timestamp('minute', { precision: 3 }).notNullable().comment('whose windows the request is counted in');
    table
      .timestamp('lease_until', { precision: 3 })
      .notNullable()
      .comment('after it the slot is free, whoever held it');
  });

  await knex.schema.createTable('host_addresses', (table) => {
    table.text('host').primary();
    table.text('ip').notNullable().comment('where the host was last found');
    table.timestamp('seen_at', { precision: 3 }).notNullable().index();
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.dropTable('host_addresses').dropTable('slots').dropTable('windows').dropTable('dispatcher');
}
