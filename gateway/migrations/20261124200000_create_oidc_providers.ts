import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('oidc_providers', (table) => {
    table.bigInteger('workspace_id').primary().references('workspaces.id');
    table.text('issuer').notNullable();
    table.text('client_id').notNullable();
    table.text('key_id').notNullable().index().comment('the secret key that encrypts the client secret');
    table.binary('secret_ciphertext').notNullable();
    table.boolean('creates_viewers').notNullable().comment('whether people without a user become viewers');
    table.timestamp('updated_at', { precision: 3 }).notNullable();
  });
}
