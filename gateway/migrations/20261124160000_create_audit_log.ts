import { createInboxTable } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';

export async function up(knex: Knex): Promise<void> {
  await knex.schema.createTable('audit_log', (table) => {
    table.bigIncrements('id');
    table.bigInteger('workspace_id').notNullable().references('workspaces.id');
    table.timestamp('occurred_at', { precision: 3 }).notNullable();
    table.text('actor_type').notNullable().checkIn(['user', 'operator']);
    table.bigInteger('user_id');
    table.bigInteger('key_id');
    table.text('action').notNullable();
    table.text('target_type').notNullable();
    table.text('target_id').notNullable();
    table.jsonb('before');
    table.jsonb('after');
    table.index(['workspace_id', 'occurred_at', 'id'], 'audit_log_by_time');
    table.index(['workspace_id', 'user_id', 'occurred_at', 'id'], 'audit_log_by_user');
    table.index(['workspace_id', 'action', 'occurred_at', 'id'], 'audit_log_by_action');
    table.index(['occurred_at'], 'audit_log_expiry');
  });
  await createInboxTable(knex);
}
