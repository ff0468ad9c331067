import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from '@jest/globals';
import { deadLetterQueueName, exchangeName, QUEUES, queueName } from '@tocsin/schemas';
import type { Knex } from '@tocsin/postgres';
import { createMetrics } from '@tocsin/runtime';
import {
  eventually,
  type OwnRabbitMq,
  removeTopology,
  startRabbitMq,
  type TcpProxy,
  tcpProxy,
  testServers,
} from '@tocsin/testing';
import { describeWithBroker, describeWithOwnRabbitMq } from '@tocsin/testing/suites';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import type { AmqpBroker } from '../src/amqp.ts';
import { type Broker, outbox, outboxRow, startConsumer, startRelay } from '../src/index.ts';
import { collect, newMessage, openBroker, publishSafely, silent } from './brokers.ts';
import { impactUpdated, type MessagingDatabase, messagingDatabase, openPool } from './database.ts';

/** Milliseconds. Much less than RabbitMQ's 30 minutes, but more than a consumer may hold a message. */
const CONSUMER_TIMEOUT = 8_000;
/** Milliseconds that publishing waits for a confirm. */
const CONFIRM_TIMEOUT = 2_000;
const QUEUE = QUEUES.incidentReports;
const incidentIds = [1, 2, 3, 4, 5];

describeWithOwnRabbitMq('during a long outage', () => {
  let rabbitMq: OwnRabbitMq;
  let database: MessagingDatabase;
  let connection: ChannelModel;
  let channel: Channel;
  let broker: AmqpBroker;
  let namespace: string;
  let unacknowledged: string;
  const stopping: (() => Promise<unknown>)[] = [];
  const ready = async (queue: string) => (await channel.checkQueue(queue)).messageCount;

  beforeAll(async () => {
    database = await messagingDatabase();
    rabbitMq = await startRabbitMq({ consumerTimeout: CONSUMER_TIMEOUT });
  });
  afterAll(async () => {
    await rabbitMq.remove();
    await database.drop();
  });
  beforeEach(async () => {
    ({ broker, namespace } = await openBroker(rabbitMq.url, { confirmTimeout: CONFIRM_TIMEOUT }));
    connection = await connect(rabbitMq.url);
    channel = await connection.createChannel();
    unacknowledged = `${namespace}.held`;
    await channel.assertQueue(unacknowledged, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
    channel.sendToQueue(unacknowledged, Buffer.from('never acknowledged'));
    await eventually(async () => (await ready(unacknowledged)) === 1);
  });
  afterEach(async () => {
    for (const stop of stopping.splice(0)) await stop();
    // Each call starts an Erlang process.
    if (isShortOfMemory) await raiseMemoryAlarm(false);
    await broker.close();
    await connection.close();
    for (const table of ['effects', 'inbox', 'outbox']) await database.knex(table).delete();
  });

  let isShortOfMemory = false;
  /** Waits until the broker blocks who publishes, which is after the command has ended. */
  const raiseMemoryAlarm = async (raise: boolean) => {
    isShortOfMemory = raise;
    await rabbitMq.control('set_vm_memory_high_watermark', raise ? '0' : '0.6');
    if (!raise) return;
    const publishing = await connect(rabbitMq.url);
    let isBlocked = false;
    publishing.on('blocked', () => {
      isBlocked = true;
    });
    const probe = await publishing.createChannel();
    await eventually(
      () => {
        probe.publish('', 'nobody', Buffer.from(''));
        return isBlocked;
      },
      { what: 'a blocked connection' },
    );
    // Is not answered before the alarm is over.
    void publishing.close();
  };

  /** Resolves after the broker's consumer timeout has expired this many times for a test consumer. */
  const waitForConsumerTimeouts = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const own = await connection.createChannel();
      const ended = Promise.withResolvers<void>();
      own.on('error', () => undefined);
      own.once('close', () => ended.resolve());
      await own.consume(unacknowledged, () => undefined);
      await ended.promise;
    }
  };

  test('of the database, no message reaches the broker’s consumer timeout', async () => {
    const proxy: TcpProxy = await tcpProxy(database.url);
    const knex: Knex = openPool(proxy.url);
    const redelivered: boolean[] = [];
    const listening: Pick<Broker, 'subscribe'> = {
      subscribe: (queue, handle, options) =>
        broker.subscribe(
          queue,
          async (message) => {
            redelivered.push(message.redelivered);
            return handle(message);
          },
          options,
        ),
    };
    proxy.cut();
    const consumer = startConsumer({
      broker: listening as Broker,
      database: knex,
      queue: QUEUE,
      handlers: {
        'customer-impact.updated': async ({ data }, trx) => {
          await trx('effects').insert({ reference: `INC-${data.incident_id}` });
        },
      },
      log: silent,
      metrics: createMetrics('test'),
    });
    stopping.push(consumer.stop, async () => knex.destroy(), proxy.close);
    const rows = incidentIds.map((id) => outboxRow(impactUpdated(id)));
    for (const { message_id, type, body } of rows) await publishSafely(broker, { id: message_id, type, body });
    await waitForConsumerTimeouts(3);
    expect(redelivered.length).toBeGreaterThan(0);
    expect(redelivered).not.toContain(true);
    expect(await ready(deadLetterQueueName(namespace, QUEUE))).toBe(0);

    proxy.restore();
    await eventually(async () => (await database.effects()).length === incidentIds.length);
    expect((await database.effects()).toSorted()).toEqual(incidentIds.map((id) => `INC-${id}`));
    expect(redelivered).not.toContain(true);
    // The consumer handles messages concurrently again.
    await publishSafely(broker, { id: crypto.randomUUID(), type: 'customer-impact.updated', body: 'malformed' });
    await eventually(async () => (await ready(deadLetterQueueName(namespace, QUEUE))) === 1);
  });

  /** Stops the leaders of all quorum queues, or continues them: like a cluster without a majority of its nodes. */
  const suspendQueues = async (suspend: boolean) => {
    const call = suspend ? 'suspend' : 'resume';
    await rabbitMq.control(
      'eval',
      `[sys:${call}(element(1, amqqueue:get_pid(Q))) || Q <- rabbit_amqqueue:list(), amqqueue:get_type(Q) =:= rabbit_quorum_queue].`,
    );
  };

  test('of a majority of the broker’s nodes, it is reported, and few attempts are made to publish', async () => {
    const metrics = createMetrics('test');
    expect(await broker.confirms()).toBe(true);
    await suspendQueues(true);
    stopping.push(async () => suspendQueues(false));
    const many = Array.from({ length: 1_500 }, (_, index) => index + 1);
    await database.knex.transaction(async (trx) => outbox(trx).add(...many.map(impactUpdated)));
    const relay = startRelay({ database: database.knex, broker, log: silent, metrics });
    stopping.push(relay.stop);
    await eventually(async () => !(await broker.confirms()), { what: 'a broker that confirms nothing' });
    const failed = async () => {
      const [, count = '0'] = /outcome="failed"[^}]*\} (\d+)/.exec(await metrics.metrics()) ?? [];
      return Number(count);
    };
    await eventually(async () => (await failed()) > 2 * many.length, { what: 'attempts that fail' });
    const [before, start] = [await failed(), performance.now()];
    await eventually(async () => (await failed()) > before + 1_000, { what: 'further attempts' });
    const perSecond = ((await failed()) - before) / ((performance.now() - start) / 1_000);
    expect(perSecond).toBeLessThan(300);

    await suspendQueues(false);
    await eventually(async () => broker.confirms(), { what: 'a broker that confirms again' });
    await eventually(async () => (await database.waiting()) === 0, { what: 'an empty outbox' });
  });

  describeWithBroker('of the other nodes for the connected one', () => {
    test('another one is used, also by consumers', async () => {
      const { amqpUrl = '' } = testServers();
      const [first, second] = [new URL(rabbitMq.url).host, new URL(amqpUrl).host];
      const by = amqpUrl.replace(second, `${first},${second}`);
      const { broker: both } = await openBroker(amqpUrl, { by, namespace, confirmTimeout: CONFIRM_TIMEOUT });
      stopping.push(
        async () => both.close(),
        async () => removeTopology(amqpUrl, namespace),
      );
      const { bodies } = collect(both, QUEUE);
      await publishSafely(both, newMessage('customer-impact.updated', 'before'));
      await eventually(() => bodies.includes('before'), { what: 'a message of the first node' });
      await suspendQueues(true);
      stopping.push(async () => suspendQueues(false));
      await publishSafely(both, newMessage('customer-impact.updated', 'after'));
      await eventually(() => bodies.includes('after'), { what: 'a message of the other node' });
    });
  });

  test('by the broker’s memory alarm, every event is sent once, after the alarm', async () => {
    const relay = startRelay({ database: database.knex, broker, log: silent, metrics: createMetrics('test') });
    stopping.push(relay.stop);
    const many = Array.from({ length: 50 }, (_, index) => index + 1);
    // Another queue of the test counts every copy that reaches the broker.
    const copies = `${namespace}.copies`;
    await channel.assertQueue(copies, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
    await channel.bindQueue(copies, exchangeName(namespace), 'customer-impact.*');
    await raiseMemoryAlarm(true);
    await database.knex.transaction(async (trx) => outbox(trx).add(...many.map(impactUpdated)));
    relay.wake();
    await eventually(() => !broker.connected, { what: 'a blocked broker' });
    // Several times as long as publishing waits for a confirm.
    await waitForConsumerTimeouts(1);
    expect(await database.waiting()).toBeGreaterThan(0);

    await raiseMemoryAlarm(false);
    await eventually(async () => (await database.waiting()) === 0, { what: 'an empty outbox' });
    expect(broker.connected).toBe(true);
    expect(await ready(copies)).toBe(many.length);
    expect(await ready(queueName(namespace, QUEUE))).toBe(many.length);
  });

  test('by the broker’s memory alarm, queues are still consumed', async () => {
    await publishSafely(broker, { id: crypto.randomUUID(), type: 'customer-impact.updated', body: 'before' });
    await raiseMemoryAlarm(true);
    await broker.publish([{ id: crypto.randomUUID(), type: 'customer-impact.updated', body: 'blocks' }]);
    await eventually(() => !broker.connected);
    const { bodies, stop } = collect(broker, QUEUE);
    await eventually(() => bodies.includes('before'));
    await stop();
    const left = await channel.get(queueName(namespace, QUEUE));
    expect(left === false ? '' : left.content.toString()).not.toBe('before');
    await raiseMemoryAlarm(false);
    await eventually(() => broker.connected);
  });
});
