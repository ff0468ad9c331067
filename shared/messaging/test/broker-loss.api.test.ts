import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { deadLetterQueueName, QUEUES, queueName } from '@tocsin/contracts';
import { eventually, type OwnRabbitMq, startRabbitMq, type TcpProxy, tcpProxy, testServers } from '@tocsin/testing';
import { describeWithBroker, describeWithOwnRabbitMq } from '@tocsin/testing/suites';
import { type Channel, connect } from 'amqplib';
import { AmqpBroker } from '../src/index.ts';
import { collect, newMessage, type OpenBroker, openBroker, publishSafely, SET_UP_PATIENCE, silent } from './brokers.ts';

describeWithBroker('over a network that fails', () => {
  let proxy: TcpProxy;
  let open: OpenBroker<AmqpBroker> & { namespace: string };
  beforeEach(async () => {
    const url = testServers().amqpUrl ?? '';
    proxy = await tcpProxy(url);
    open = await openBroker(url, { by: proxy.url });
  }, SET_UP_PATIENCE);
  afterEach(async () => {
    await open.remove();
    await proxy.close();
  }, SET_UP_PATIENCE);

  test('nothing counts as published while the connection is lost, and everything again after it is back', async () => {
    const { bodies } = collect(open.broker, QUEUES.webhookIncidents);
    proxy.cut();
    await eventually(() => !open.broker.connected);
    expect(await open.broker.publish([newMessage('incident.created')])).toEqual(['failed']);
    proxy.mend();
    expect(await publishSafely(open.broker, newMessage('incident.created', 'after'))).toBe('confirmed');
    await eventually(() => bodies.includes('after'));
  });

  test('what was being handled when the connection was lost comes again', async () => {
    const lost = Promise.withResolvers<void>();
    const { bodies, redelivered } = collect(open.broker, QUEUES.webhookIncidents, async (_, nth) => {
      if (nth === 1) await lost.promise;
      return 'ack' as const;
    });
    await publishSafely(open.broker, newMessage('incident.created', 'twice'));
    await eventually(() => bodies.length === 1);
    proxy.cut();
    await eventually(() => !open.broker.connected);
    lost.resolve();
    proxy.mend();
    await eventually(() => bodies.length === 2);
    expect(bodies).toEqual(['twice', 'twice']);
    expect(redelivered).toEqual([false, true]);
  });

  test('a confirmation that does not come is a failure, in bounded time', async () => {
    proxy.stall();
    expect(await open.broker.publish([newMessage('incident.created')])).toEqual(['failed']);
    proxy.mend();
    expect(await publishSafely(open.broker, newMessage('incident.created'))).toBe('confirmed');
  });

  test('a subscription lives through any number of losses, once', async () => {
    const { bodies } = collect(open.broker, QUEUES.webhookIncidents);
    for (const _ of [1, 2, 3]) {
      proxy.cut();
      await eventually(() => !open.broker.connected);
      proxy.mend();
      await eventually(() => open.broker.connected);
    }
    const sent = Array.from({ length: 10 }, (_, index) => String(index));
    for (const body of sent) await publishSafely(open.broker, newMessage('incident.created', body));
    await eventually(() => bodies.length >= sent.length);
    expect(bodies.toSorted()).toEqual(sent);
  });

  test('a broker that is not there at first is found when it comes', async () => {
    proxy.cut();
    const late = new AmqpBroker({ url: proxy.url, namespace: open.namespace, log: silent });
    const { bodies } = collect(late, QUEUES.webhookIncidents);
    expect(await late.publish([newMessage('incident.created')])).toEqual(['failed']);
    expect(late.connected).toBe(false);
    proxy.mend();
    expect(await publishSafely(late, newMessage('incident.created', 'at last'))).toBe('confirmed');
    await eventually(() => bodies.includes('at last'));
    await late.close();
  });

  test('closing does not wait for a broker that is away', async () => {
    proxy.cut();
    const alone = new AmqpBroker({ url: proxy.url, namespace: open.namespace, log: silent });
    const { stop } = collect(alone, QUEUES.webhookIncidents);
    await stop();
    await alone.close();
    proxy.mend();
    expect(alone.connected).toBe(false);
  });

  // The broker introduces itself with some 500 bytes; then come the answers to what is set up.
  test.each([100, 540, 580, 640])(
    'closing does not wait for a broker that fell silent after %i bytes',
    async (bytes) => {
      const stalled = proxy.stallAfter(bytes);
      const alone = new AmqpBroker({ url: proxy.url, namespace: open.namespace, log: silent });
      await stalled;
      await alone.close();
      proxy.mend();
      expect(alone.connected).toBe(false);
    },
  );
});

describeWithBroker('on a broker that somebody tampers with', () => {
  let open: OpenBroker<AmqpBroker> & { namespace: string };
  let channel: Channel;
  let hangUp: () => Promise<void>;
  beforeEach(async () => {
    const url = testServers().amqpUrl ?? '';
    open = await openBroker(url);
    const connection = await connect(url);
    hangUp = async () => connection.close();
    channel = await connection.createChannel();
  }, SET_UP_PATIENCE);
  afterEach(async () => {
    await hangUp();
    await open.remove();
  }, SET_UP_PATIENCE);

  test('a queue that was deleted is there again, and consumed', async () => {
    const { bodies } = collect(open.broker, QUEUES.webhookIncidents);
    await publishSafely(open.broker, newMessage('incident.created', 'before'));
    await eventually(() => bodies.includes('before'));
    await channel.deleteQueue(queueName(open.namespace, QUEUES.webhookIncidents));
    await eventually(
      async () => (await open.broker.publish([newMessage('incident.created', 'after')]))[0] === 'confirmed',
    );
    await eventually(() => bodies.includes('after'));
  });

  test('a refused message is in the dead-letter queue, as it came', async () => {
    collect(open.broker, QUEUES.webhookIncidents, () => 'dead-letter');
    const message = newMessage('incident.created', '{"evidence":true}');
    await publishSafely(open.broker, message);
    const dead = await eventually(() => channel.get(deadLetterQueueName(open.namespace, QUEUES.webhookIncidents)));
    expect(dead.content.toString()).toBe(message.body);
    expect(dead.properties.messageId).toBe(message.id);
    channel.ack(dead);
  });
});

describeWithOwnRabbitMq('when the broker itself is killed', () => {
  let rabbitMq: OwnRabbitMq;
  beforeAll(async () => {
    rabbitMq = await startRabbitMq();
  }, 90_000);
  afterAll(async () => rabbitMq.remove());

  test('no message that it had confirmed is lost', async () => {
    const { broker } = await openBroker(rabbitMq.url);
    const sent = Array.from({ length: 200 }, (_, index) => newMessage('incident.created', String(index)));
    const publishing = Promise.all(sent.map(async (message) => publishSafely(broker, message, 60_000)));
    await eventually(async () => (await broker.publish([newMessage('of.nobody')]))[0] === 'unroutable');
    await rabbitMq.kill();
    await eventually(() => !broker.connected);
    await rabbitMq.start();
    expect(new Set(await publishing)).toEqual(new Set(['confirmed']));

    const { bodies } = collect(broker, QUEUES.webhookIncidents);
    const missing = () => sent.filter(({ body }) => !bodies.includes(body));
    await eventually(() => missing().length === 0, { within: 20_000, what: 'every message' });
    await broker.close();
  }, 120_000);
});
