import { expect, test } from '@jest/globals';
import { deadLetterQueueName, type Envelope, QUEUES } from '@tocsin/schemas';
import { type Client, eventually, testServers } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import { adminCommand } from '../../../infra/verification/systems/admin-command.ts';
import { running, runningSystem } from '../../../infra/verification/systems/running.ts';

const FEED = '/api/v1/events';

describeWithServers('the event feed', () => {
  const system = runningSystem();
  const client = running(async () => system.as());

  /** Follows the feed from a cursor until it has this many events. */
  async function follow(reader: Client, { from, count }: { from: string; count: number }) {
    const events: Envelope[] = [];
    let cursor = from;
    await eventually(
      async () => {
        const { status, body, text } = await reader.get(`${FEED}?after=${cursor}`);
        if (status !== 200) throw new Error(`${status} ${text}`);
        events.push(...body.events);
        cursor = body.pagination.next_cursor;
        return events.length >= count;
      },
      { what: `${count} events in the feed` },
    );
    return { events, cursor };
  }

  const now = async (reader: Client): Promise<string> => (await reader.get(FEED)).body.pagination.next_cursor;

  test('has an event once, also after a replay of dead letters', async () => {
    const from = await now(client);
    await client.post('/api/v1/incidents', { title: 'Once' });
    const { events, cursor } = await follow(client, { from, count: 1 });
    const amqpUrl = testServers().amqpUrl ?? '';
    const connection = await connect(amqpUrl);
    const channel = await connection.createConfirmChannel();
    const event = events[0] as Envelope;
    // As if a delivery had failed too often although its transaction had committed.
    channel.sendToQueue(deadLetterQueueName(system.namespace, QUEUES.webhookFeed), Buffer.from(JSON.stringify(event)), {
      messageId: event.id,
      type: event.type,
      persistent: true,
    });
    await channel.waitForConfirms();
    await connection.close();
    const run = adminCommand({ AMQP_URL: amqpUrl, TOCSIN_NAMESPACE: system.namespace });
    await eventually(async () => {
      const { replayed } = await run('dead-letters', 'replay', '--queue', QUEUES.webhookFeed.name);
      return replayed === 1;
    });
    await client.post('/api/v1/incidents', { title: 'Afterwards' });
    const later = await follow(client, { from: cursor, count: 1 });
    expect(later.events.map(({ data }) => (data as { incident: { title: string } }).incident.title)).toEqual([
      'Afterwards',
    ]);
  });
});
