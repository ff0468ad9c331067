import type { Knex } from '@tocsin/postgres';

/** What `q` of lists searches, folded by `shared/domain/fold.ts`. Null in a row whose text an earlier release wrote. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('incidents', (table) => {
    table.specificType('title_folded', 'text collate "C"');
    table.specificType('impact_summary_folded', 'text collate "C"');
  });
}
