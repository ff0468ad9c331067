import { deadLetterQueueName, healthQueueName, type QueueDefinition, QUEUES, queueName } from '@tocsin/schemas';
import { eventually, testServers } from '@tocsin/testing';
import { connect } from 'amqplib';
import { Redis } from 'ioredis';
import { withClient } from '../../installation/databases.ts';
import type { System } from './system.ts';

/** Everything that a system stores: a line for each row, message and key, with where it is. */
export async function dumpOf(system: Pick<System, 'database' | 'namespace'>): Promise<string[]> {
  return [...(await rowsOf(system)), ...(await messagesOf(system)), ...(await keysOf(system))];
}

/** The lines with a text, in any case of letters, also as JSON and SQL write it. */
export function linesWith(dump: readonly string[], text: string): string[] {
  const forms = [text, JSON.stringify(text).slice(1, -1)].map((form) => form.toLowerCase());
  return dump.filter((line) => forms.some((form) => line.toLowerCase().includes(form)));
}

const rowsOf = async ({ database }: Pick<System, 'database'>): Promise<string[]> =>
  withClient(database.adminUrl, async (sql) => {
    const { rows: tables } = await sql.query<{ name: string; table: string }>(
      `select schemaname || '.' || tablename as name, format('%I.%I', schemaname, tablename) as table from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const lines: string[] = [];
    for (const { name, table } of tables) {
      // Each value by itself, because a row as a whole escapes what is in it.
      const { rows } = await sql.query<{ row: object }>(`select to_jsonb(dumped) as row from ${table} as dumped`);
      for (const { row } of rows)
        for (const [column, value] of Object.entries(row))
          lines.push(`${name}.${column}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    }
    return lines;
  });

async function messagesOf({ namespace }: Pick<System, 'namespace'>): Promise<string[]> {
  const connection = await connect(testServers().amqpUrl ?? '');
  const channel = await connection.createChannel();
  const all = Object.values<QueueDefinition>(QUEUES);
  // RabbitMQ shows nobody the messages of these.
  for (const queue of all.filter((each) => each.singleActiveConsumer === true))
    await eventually(async () => (await channel.checkQueue(queueName(namespace, queue))).messageCount === 0);
  const queues = [
    healthQueueName(namespace),
    ...all.filter((each) => each.singleActiveConsumer !== true).map((queue) => queueName(namespace, queue)),
    ...all.map((queue) => deadLetterQueueName(namespace, queue)),
  ];
  const lines: string[] = [];
  for (const queue of queues) {
    for (;;) {
      // They go back into the queue when the connection is closed.
      const message = await channel.get(queue, { noAck: false });
      if (message === false) break;
      lines.push(`${queue}: ${message.content.toString()}`);
    }
  }
  await connection.close();
  return lines;
}

async function keysOf({ namespace }: Pick<System, 'namespace'>): Promise<string[]> {
  const redis = new Redis(testServers().redisUrl ?? '');
  const lines: string[] = [];
  for (const key of await redis.keys(`${namespace}*`)) {
    const value: unknown = { string: redis.get, hash: redis.hgetall, set: redis.smembers }[await redis.type(key)];
    const read = typeof value === 'function' ? await (value as (key: string) => Promise<unknown>).call(redis, key) : '';
    lines.push(`${key}: ${JSON.stringify(read)}`);
  }
  redis.disconnect();
  return lines;
}
