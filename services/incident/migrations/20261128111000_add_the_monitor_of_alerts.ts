import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.alterTable('alert_members', (table) => {
    table.bigInteger('workspace_id').comment('with key_id and mark, it is found in another group');
    table.bigInteger('key_id').comment('the monitor: the first key of its rotations');
    table.binary('mark').comment('digest of its identity and labels; null: of an earlier release');
    table.text('severity').comment('key of the highest severity that the monitor named in this firing; null: none');
    table
      .timestamp('changed_at', { precision: 3 })
      .comment('when the monitor said that it fires, or has ended; null: of an earlier release');
  });
}
