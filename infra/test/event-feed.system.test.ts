import { expect, test } from '@jest/globals';
import { deadLetterQueueName, type Envelope, QUEUES } from '@tocsin/contracts';
import { type Client, eventually, testServers } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import { adminCommand } from '../verification/systems/admin-command.ts';
import { running, runningSystem } from './running.ts';

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

  test('has the changes of all owners in one order, and each key reads what its scopes allow', async () => {
    const teamReader = await system.as({ scopes: ['teams:read'] });
    const stranger = await system.as({ workspace: 'other' });
    const cursors = { all: await now(client), teams: await now(teamReader), others: await now(stranger) };

    const { body: created } = await client.post('/api/v1/incidents', { title: 'Down' });
    const path = `/api/v1/incidents/${created.incident.id}`;
    await follow(client, { from: cursors.all, count: 1 });
    await client.post('/api/v1/teams', { name: 'Payments' });
    await follow(client, { from: cursors.all, count: 2 });
    await client.patch(path, { status: 'monitoring' }, { 'If-Service-Resource-Version': '1' });
    const { events } = await follow(client, { from: cursors.all, count: 3 });
    expect(events.map(({ type }) => type)).toEqual(['incident.created', 'team.changed', 'incident.updated']);

    const teams = await follow(teamReader, { from: cursors.teams, count: 1 });
    expect(teams.events).toEqual([events[1]]);
    const own = await client.get(`${FEED}?from=beginning&resource=incident:${created.incident.id}`);
    expect(own.body.events).toEqual([events[0], events[2]]);

    const { body } = await stranger.get(`${FEED}?from=beginning`);
    expect(body.events).toEqual([]);
    expect((await stranger.get(`${FEED}?after=${cursors.all}`)).status).toBe(400);
    const manager = await system.as({ scopes: ['webhooks:manage', 'incidents:write'] });
    const { status, body: refusal } = await manager.get(FEED);
    expect([status, refusal.code, refusal.details.required_scopes]).toEqual([
      403,
      'missing_scope',
      ['incidents:read', 'services:read', 'teams:read', 'custom_fields:read'],
    ]);
    expect((await system.anonymously().get(FEED)).status).toBe(401);
  });

  test('has what happened while its recorder was away, in the order in which it happened', async () => {
    const from = await now(client);
    await system.stopApp('webhook');
    const titles = Array.from({ length: 25 }, (_, index) => `While away ${index}`);
    for (const title of titles) {
      expect((await client.post('/api/v1/incidents', { title })).status).toBe(201);
    }
    await system.startApp('webhook');
    const { events } = await follow(client, { from, count: titles.length });
    expect(events.map(({ data }) => (data as { incident: { title: string } }).incident.title)).toEqual(titles);
  });

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
