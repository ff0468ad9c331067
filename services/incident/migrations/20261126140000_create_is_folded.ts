import type { Knex } from '@tocsin/postgres';

/**
 * Whether texts are folded as `fold` does now: in NFKC, and without a sharp s, of which an earlier release left the
 * capital one. The texts of rows that earlier processes write are found by it, and folded again (ADR 68).
 */
export async function up(knex: Knex): Promise<void> {
  // Immutable: PostgreSQL only calls it stable to join arrays because elements of other types depend on settings.
  await knex.raw(`
    create function is_folded(texts text[]) returns boolean language sql immutable parallel safe as $$
      select joined is nfkc normalized and strpos(joined, 'ß') = 0
      from (select array_to_string(texts, ' ') as joined) as one
    $$`);
}
