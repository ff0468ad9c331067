import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('oidc_providers', (table) => {
    table
      .boolean('trusts_email')
      .notNullable()
      .defaultTo(false)
      .comment('whether an address counts as verified if the provider says nothing about it');
    table.jsonb('groups').comment('which groups give which roles, see store/oidc-provider-store.ts; null: none do');
  });
}
