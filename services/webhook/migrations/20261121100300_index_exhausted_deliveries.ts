import type { Knex } from '@tocsin/postgres';

/** Deliveries whose last attempt was lost in a crash are looked for every few seconds, among all that wait. 8: MAX_ATTEMPTS. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index deliveries_exhausted on deliveries (due_at) where status in ('queued', 'held') and attempts >= 8`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index deliveries_exhausted');
}
