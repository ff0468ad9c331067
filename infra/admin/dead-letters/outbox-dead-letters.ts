import type { Envelope, QueueDefinition } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { openAppDatabase } from '../../installation/databases.ts';
import type { SchemaTarget } from '../../migrate/config.ts';
import { type DeadLetter, type DeadLetters, QUEUES_BY_NAME } from './dead-letters.ts';

interface Row {
  schema: string;
  message_id: string;
  type: string;
  reason: string;
  died_at: string;
  body: string;
}

/**
 * Runs `work` on the dead letters of an instance without RabbitMQ: each publisher's database holds those of its events.
 */
export async function withOutboxDeadLetters<Result>(
  targets: readonly SchemaTarget[],
  work: (deadLetters: DeadLetters) => Promise<Result>,
): Promise<Result> {
  const publishers = targets.map((target) => ({
    schema: target.schema,
    database: openAppDatabase(target, { application: 'tocsin-dead-letters', poolSize: 1 }),
  }));
  try {
    return await work(deadLetters(new Map(publishers.map(({ schema, database }) => [schema, database]))));
  } finally {
    await Promise.all(publishers.map(async ({ database }) => database.destroy()));
  }
}

function deadLetters(databases: ReadonlyMap<string, Knex>): DeadLetters {
  /** The oldest ones of all publishers. */
  const oldest = async (queue: QueueDefinition, most: number): Promise<Row[]> => {
    const lists = await Promise.all(
      [...databases].map(async ([schema, database]) => {
        const rows = database<Omit<Row, 'schema'> & { queue: string }>('dead_letters')
          .select('message_id', 'type', 'reason', 'died_at', 'body')
          .where({ queue: queue.name })
          .orderBy(['died_at', 'message_id']);
        const limited = await (Number.isFinite(most) ? rows.limit(most) : rows);
        return limited.map((row): Row => ({ ...row, schema }));
      }),
    );
    const key = ({ died_at, message_id }: Row) => `${died_at} ${message_id}`;
    return lists
      .flat()
      .sort((a, b) => (key(a) < key(b) ? -1 : 1))
      .slice(0, most);
  };

  /** Removes the oldest ones, with `instead` in the same transaction. @returns how many */
  const remove = async (
    queue: QueueDefinition,
    most: number,
    onRemoved: (trx: Knex.Transaction, rows: { message_id: string; type: string; body: string }[]) => Promise<unknown>,
  ): Promise<number> => {
    const bySchema = Map.groupBy(await oldest(queue, most), ({ schema }) => schema);
    let removed = 0;
    for (const [schema, rows] of bySchema) {
      for (let start = 0; start < rows.length; start += BATCH) {
        const ids = rows.slice(start, start + BATCH).map(({ message_id }) => message_id);
        removed += await (databases.get(schema) as Knex).transaction(async (trx) => {
          // Another command may have deleted some of them first.
          const deleted = await trx('dead_letters')
            .where({ queue: queue.name })
            .whereIn('message_id', ids)
            .delete()
            .returning<{ message_id: string; type: string; body: string }[]>(['message_id', 'type', 'body']);
          await onRemoved(trx, deleted);
          return deleted.length;
        });
      }
    }
    return removed;
  };

  return {
    count: async () => {
      const counts = new Map([...QUEUES_BY_NAME.keys()].map((name) => [name, 0]));
      for (const database of databases.values()) {
        const rows = await database('dead_letters')
          .select('queue')
          .groupBy('queue')
          .count<{ queue: string; count: number }[]>('message_id as count');
        for (const { queue, count } of rows) counts.set(queue, (counts.get(queue) ?? 0) + count);
      }
      return Object.fromEntries(counts);
    },
    peek: async (queue, most) =>
      (await oldest(queue, most)).map(({ message_id, type, reason, died_at, body }): DeadLetter => ({
        id: message_id,
        type,
        reason,
        died_at,
        body,
      })),
    // The running instance sends the outbox within a moment. Consumers recognize events that they have handled before.
    replay: async (queue, most) =>
      remove(queue, most, async (trx, rows) => {
        const events = rows.map((row) => ({
          ...row,
          workspace_id: (JSON.parse(row.body) as Partial<Envelope>).workspace?.id ?? 0,
        }));
        if (events.length > 0) await trx('outbox').insert(events);
      }),
    discard: async (queue, most) => remove(queue, most, async () => undefined),
  };
}

const BATCH = 500;
