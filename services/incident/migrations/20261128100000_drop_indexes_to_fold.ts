import type { Knex } from '@tocsin/postgres';

export const config = { transaction: false };

const TABLES = ['incidents', 'incident_values', 'timeline_events', 'timeline_groups', 'follow_ups'];

/**
 * All texts are folded in one way now (ADR 68). An update of a column that the condition of an index names cannot be a
 * HOT update, so these indexes made PostgreSQL write all others, too. Processes of the last release still ask
 * `is_folded`: the constant spares them the search.
 */
export async function up(knex: Knex): Promise<void> {
  for (const table of TABLES) await knex.raw('drop index concurrently if exists ??', [`${table}_to_fold`]);
  await knex.raw(`
    create or replace function is_folded(texts text[]) returns boolean language sql immutable parallel safe
    as 'select true'`);
}
