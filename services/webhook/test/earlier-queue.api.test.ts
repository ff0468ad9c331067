import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { exchangeName, QUEUES, queueName } from '@tocsin/contracts';
import { AmqpBroker } from '@tocsin/messaging';
import { createLogger } from '@tocsin/runtime';
import { eventually, type Receiver, removeTopology, startReceiver, testServers } from '@tocsin/testing';
import { describeWithBroker } from '@tocsin/testing/suites';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { activeSubscription, deliveries, incidentCreated, startService, type TestService } from './service.ts';

// Processes from before 0.1.0 bind a second queue, and queue deliveries from that one alone.
describeWithBroker('while a process of an earlier release runs', () => {
  const url = testServers().amqpUrl ?? '';
  const namespace = `t${randomUUID().slice(0, 8)}`;
  let broker: AmqpBroker;
  let service: TestService;
  let receiver: Receiver;
  let connection: ChannelModel;
  let channel: Channel;
  beforeAll(async () => {
    receiver = await startReceiver();
    const log = createLogger({ app: 'test', level: 'silent' });
    broker = new AmqpBroker({ url, namespace, log });
    service = await startService({ receivers: [receiver], overrides: { broker } });
    connection = await connect(url);
    channel = await connection.createChannel();
    await eventually(() => broker.connected, { what: 'a connection to the broker' });
    await activeSubscription(service, receiver.url());
  });
  afterAll(async () => {
    await connection.close();
    await service.stop();
    await broker.close();
    await receiver.stop();
    await removeTopology(url, namespace);
  });
  beforeEach(() => {
    receiver.requests.length = 0;
  });

  /** Fewer than one receiver gets in a minute. */
  const EVENTS = 8;
  const QUEUE = queueName(namespace, QUEUES.webhookIncidents);
  const message = (id: number) => Buffer.from(JSON.stringify(incidentCreated(service, { id })));
  const recorded = async () => (await service.rows('feed_events').select('event_id')).length;

  test('an event that comes by both queues is delivered once and recorded once', async () => {
    await channel.bindQueue(QUEUE, exchangeName(namespace), 'incident.created');
    const ids = Array.from({ length: EVENTS }, (_, index) => index + 1);
    for (const id of ids) channel.publish(exchangeName(namespace), 'incident.created', message(id));
    await eventually(() => receiver.requests.length >= EVENTS && recorded().then((count) => count >= EVENTS), {
      what: 'the deliveries',
    });
    await eventually(async () => (await channel.checkQueue(QUEUE)).messageCount === 0, { what: 'an empty queue' });
    expect(await deliveries(service)).toHaveLength(EVENTS);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(EVENTS);
    expect(receiver.requests).toHaveLength(EVENTS);
    expect(await recorded()).toBe(EVENTS);
  });

  test('an event whose other copy that process has recorded is delivered', async () => {
    channel.sendToQueue(QUEUE, message(EVENTS + 1));
    await eventually(() => receiver.requests.length === 1, { what: 'the delivery' });
    expect(await deliveries(service)).toHaveLength(EVENTS + 1);
    expect(await recorded()).toBe(EVENTS);
  });
});
