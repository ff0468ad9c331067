import type { Knex } from '@tocsin/postgres';

/**
 * Deliveries that are leased or wait for another attempt leave the lanes until they are due, so that a claim visits only
 * lanes in which something is due.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table deliveries add column is_postponed boolean not null default false`);
  await knex.raw(`
    comment on column deliveries.is_postponed is 'not due before due_at; a claim resets it when that time has come'`);
  await knex.raw(`
    create index deliveries_due_lanes on deliveries (workspace_id, subscription_id, due_at, id)
      where status = 'queued' and not is_postponed`);
  await knex.raw(`create index deliveries_postponed on deliveries (due_at) where status = 'queued' and is_postponed`);
  await knex.raw('drop index deliveries_lanes');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    create index deliveries_lanes on deliveries (workspace_id, subscription_id, due_at, id) where status = 'queued'`);
  await knex.raw('alter table deliveries drop column is_postponed');
}
