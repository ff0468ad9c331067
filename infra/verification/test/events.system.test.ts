import { beforeAll, expect, test } from '@jest/globals';
import { type Envelope, type EventType, exchangeName, EVENTS } from '@tocsin/schemas';
import { eventually, testServers } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import { EXAMPLES } from '../../generate/event-examples.ts';
import { causeEveryEvent } from '../systems/every-event.ts';
import { running, runningSystem } from '../systems/running.ts';

describeWithServers('a consumer on the exchange', () => {
  const received: Envelope[] = [];
  const system = runningSystem();
  const connection = running(
    async () => connect(testServers().amqpUrl ?? ''),
    async (opened) => opened.close(),
  );

  beforeAll(async () => {
    const channel = await connection.createChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, exchangeName(system.namespace), '#');
    await channel.consume(
      queue,
      (message) => {
        const event = JSON.parse(message?.content.toString() ?? '') as Envelope;
        expect(message?.fields.routingKey).toBe(event.type);
        expect(message?.properties).toMatchObject({ messageId: event.id, type: event.type, deliveryMode: 2 });
        received.push(event);
      },
      { noAck: true },
    );
  });
  // Afterwards, so that its workspace is among what is received.
  const client = running(async () => system.as({ role: 'owner' }));

  const first = async (type: EventType) =>
    eventually(() => received.find((event) => event.type === type), { what: type });

  test('receives every change, in the form of the examples', async () => {
    const incident = await causeEveryEvent(client);

    for (const type of Object.keys(EXAMPLES) as EventType[]) {
      if (EVENTS[type].publishers.length === 0) continue;
      const example = { ...EXAMPLES[type], request_id: 'any' };
      expect(shapeOf(withoutStates(await first(type)))).toEqual(shapeOf(withoutStates(example)));
    }
    const created = await first('incident.created');
    expect(created).toMatchObject({ request_id: 'heard-1', occurred_at: incident.created_at });
  });

  test('receives the changes of a workspace in the order of their versions, however many are made at once', async () => {
    const COUNT = 12;
    const since = received.length;
    await Promise.all(
      Array.from({ length: COUNT }, async (_, index) => {
        await client.post('/api/v1/teams', { name: `Team ${index}` });
        await client.post('/api/v1/services', { name: `Service ${index}` });
        await client.post('/api/v1/custom-fields', { name: `Field ${index}`, field_type: 'string' });
      }),
    );
    const versionsOf = (...types: EventType[]) =>
      received
        .slice(since)
        .filter(({ type }) => types.some((each) => each === type))
        .map(({ data }) => (data as { version: number }).version);
    for (const [types, count] of [
      [['team.changed', 'service.changed'], 2 * COUNT],
      [['custom-field.changed'], COUNT],
    ] as const) {
      const versions = await eventually(() => versionsOf(...types).length >= count && versionsOf(...types));
      expect(versions).toEqual(versions.map((_, index) => (versions[0] as number) + index));
    }
  });
});

/** The states in an entry of the audit log have the form of what was changed. */
function withoutStates<Event extends { type: string; data: unknown }>(event: Event): Event {
  if (event.type !== 'audit.recorded') return event;
  const { entry } = event.data as { entry: object };
  return { ...event, data: { entry: { ...entry, before: null, after: null } } };
}

/** The structure of a value without its scalar values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return 'value';
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}
