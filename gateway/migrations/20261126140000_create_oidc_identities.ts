import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('oidc_identities', (table) => {
    table.comment('the account at its provider by which a user signed in first');
    table.bigInteger('user_id').primary().references('users.id');
    table.bigInteger('workspace_id').notNullable().references('workspaces.id');
    table.text('issuer').notNullable();
    table.text('subject').notNullable();
    table.timestamp('created_at', { precision: 3 }).notNullable();
    table.unique(['workspace_id', 'issuer', 'subject'], { indexName: 'oidc_identities_account_key' });
  });
}
