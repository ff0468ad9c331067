import type { QueueDefinition } from '@tocsin/contracts';
import type { Knex } from '@tocsin/runtime';

/** Creates the inbox table; for the migrations of a service that consumes. */
export async function createInboxTable(knex: Knex): Promise<void> {
  await knex.schema.createTable('inbox', (table) => {
    table.text('queue').notNullable();
    table.uuid('message_id').notNullable();
    table.timestamp('received_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now()).index();
    table.primary(['queue', 'message_id']);
  });
}

/** Days that inbox rows are kept to detect duplicates, unless a setting says otherwise. */
export const INBOX_DAYS = 7;

/** Deletes the rows of events too old to be delivered again. Returns whether there may be more. */
export async function sweepInbox(database: Knex, days: number): Promise<boolean> {
  const old = database('inbox')
    .select('queue', 'message_id')
    .where('received_at', '<', database.raw(`now() - ? * interval '1 day'`, [days]))
    .limit(1_000);
  return (await database('inbox').whereIn(['queue', 'message_id'], old).delete()) === 1_000;
}

/** Inserts the inbox rows of messages and returns the IDs of those that were not handled before. */
export async function claimInInbox(
  trx: Knex.Transaction,
  queue: QueueDefinition,
  messageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  // In one order, so that transactions cannot wait for each other in a circle.
  const distinct = [...new Set(messageIds)].sort();
  const inserted = await trx('inbox')
    .insert(distinct.map((id) => ({ queue: queue.name, message_id: id })))
    .onConflict(['queue', 'message_id'])
    .ignore()
    .returning<{ message_id: string }[]>('message_id');
  return new Set(inserted.map(({ message_id: id }) => id));
}
