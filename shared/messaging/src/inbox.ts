import type { QueueDefinition } from '@tocsin/schemas';
import { type Knex, query, type Statement } from '@tocsin/postgres';

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

/** Rows that are deleted at once. */
const BATCH = 1_000;

/** Deletes the rows of events too old to be delivered again. Returns whether there may be more. */
export async function sweepInbox(database: Knex, days: number): Promise<boolean> {
  const deleted = await query(database, {
    text: `delete from inbox where (queue, message_id) in (
        select queue, message_id from inbox where received_at < now() - make_interval(days => $1) limit ${BATCH})
      returning message_id`,
    values: [days],
  });
  return deleted.length === BATCH;
}

const CLAIM = `
  insert into inbox (queue, message_id) select $1, id from unnest($2::uuid[]) as message (id)
  on conflict (queue, message_id) do nothing returning message_id`;

/** Inserts the inbox rows of messages; its rows are those that were not handled before. */
export const claimStatement = (
  queue: QueueDefinition,
  messageIds: readonly string[],
): Statement<{ message_id: string }> => ({
  name: 'record-in-inbox',
  text: CLAIM,
  // In one order, so that transactions cannot wait for each other in a circle.
  values: [queue.name, [...new Set(messageIds)].sort()],
});

/** Inserts the inbox rows of messages and returns the IDs of those that were not handled before. */
export async function recordInInbox(
  trx: Knex.Transaction,
  queue: QueueDefinition,
  messageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const inserted = await query(trx, claimStatement(queue, messageIds));
  return new Set(inserted.map(({ message_id: id }) => id));
}
