import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { deadLetterQueueName, QUEUES, queueName } from '@tocsin/schemas';
import { eventually, type OwnRabbitMq, startRabbitMq, type TcpProxy, tcpProxy, testServers } from '@tocsin/testing';
import { describeWithBroker, describeWithOwnRabbitMq } from '@tocsin/testing/suites';
import { type Channel, connect } from 'amqplib';
import { AmqpBroker } from '../src/amqp.ts';
import { collect, newMessage, type OpenBroker, openBroker, publishSafely, silent } from './brokers.ts';

/** Milliseconds. */
const CONFIRM_TIMEOUT = 2_000;

describeWithBroker('over a network that fails', () => {
  let proxy: TcpProxy;
  let open: OpenBroker<AmqpBroker> & { namespace: string };
  beforeEach(async () => {
    const url = testServers().amqpUrl ?? '';
    proxy = await tcpProxy(url);
    open = await openBroker(url, { by: proxy.url, confirmTimeout: CONFIRM_TIMEOUT });
  });
  afterEach(async () => {
    await open.remove();
    await proxy.close();
  });

  test('publishing fails while the connection is lost, and works again once it is back', async () => {
    const { bodies } = collect(open.broker, QUEUES.incidentReports);
    proxy.cut();
    await eventually(() => !open.broker.connected);
    expect(await open.broker.publish([newMessage('customer-impact.updated')])).toEqual(['failed']);
    proxy.restore();
    expect(await publishSafely(open.broker, newMessage('customer-impact.updated', 'after'))).toBe('confirmed');
    await eventually(() => bodies.includes('after'));
  });

  test('a message in progress when the connection is lost is redelivered', async () => {
    const lost = Promise.withResolvers<void>();
    const { bodies, redelivered } = collect(open.broker, QUEUES.incidentReports, async (_, nth) => {
      if (nth === 1) await lost.promise;
      return 'ack' as const;
    });
    await publishSafely(open.broker, newMessage('customer-impact.updated', 'twice'));
    await eventually(() => bodies.length === 1);
    proxy.cut();
    await eventually(() => !open.broker.connected);
    lost.resolve();
    proxy.restore();
    await eventually(() => bodies.length === 2);
    expect(bodies).toEqual(['twice', 'twice']);
    expect(redelivered).toEqual([false, true]);
  });

  test('publishing fails in bounded time without a confirm', async () => {
    proxy.stall();
    expect(await open.broker.publish([newMessage('customer-impact.updated')])).toEqual(['failed']);
    proxy.restore();
    expect(await publishSafely(open.broker, newMessage('customer-impact.updated'))).toBe('confirmed');
  });

  test('a subscription survives repeated connection losses without being duplicated', async () => {
    const { bodies } = collect(open.broker, QUEUES.incidentReports);
    for (const _ of [1, 2, 3]) {
      proxy.cut();
      await eventually(() => !open.broker.connected);
      proxy.restore();
      await eventually(() => open.broker.connected);
    }
    const sent = Array.from({ length: 10 }, (_, index) => String(index));
    for (const body of sent) await publishSafely(open.broker, newMessage('customer-impact.updated', body));
    await eventually(() => bodies.length >= sent.length);
    expect(bodies.toSorted()).toEqual(sent);
  });

  test('a broker that is down at first is connected once it is up', async () => {
    proxy.cut();
    const delayed = new AmqpBroker({ url: proxy.url, namespace: open.namespace, log: silent });
    const { bodies } = collect(delayed, QUEUES.incidentReports);
    expect(await delayed.publish([newMessage('customer-impact.updated')])).toEqual(['failed']);
    expect(delayed.connected).toBe(false);
    proxy.restore();
    expect(await publishSafely(delayed, newMessage('customer-impact.updated', 'at last'))).toBe('confirmed');
    await eventually(() => bodies.includes('at last'));
    await delayed.close();
  });

  test('closing does not wait for a broker that is unreachable', async () => {
    proxy.cut();
    const alone = new AmqpBroker({ url: proxy.url, namespace: open.namespace, log: silent });
    const { stop } = collect(alone, QUEUES.incidentReports);
    await stop();
    await alone.close();
    proxy.restore();
    expect(alone.connected).toBe(false);
  });

  // The broker's first frame has about 500 bytes; the responses to the set-up follow.
  test.each([100, 540, 580, 640])(
    'closing does not wait for a broker that fell silent after %i bytes',
    async (bytes) => {
      const stalled = proxy.stallAfter(bytes);
      const alone = new AmqpBroker({ url: proxy.url, namespace: open.namespace, log: silent });
      await stalled;
      await alone.close();
      proxy.restore();
      expect(alone.connected).toBe(false);
    },
  );
});

describeWithBroker('on a broker whose queues are changed from outside', () => {
  let open: OpenBroker<AmqpBroker> & { namespace: string };
  let channel: Channel;
  let disconnect: () => Promise<void>;
  beforeEach(async () => {
    const url = testServers().amqpUrl ?? '';
    open = await openBroker(url);
    const connection = await connect(url);
    disconnect = async () => connection.close();
    channel = await connection.createChannel();
  });
  afterEach(async () => {
    await disconnect();
    await open.remove();
  });

  test('a deleted queue is declared again and consumed', async () => {
    // No other queue is bound to this type: what cannot be routed is published again.
    const [queue, type] = [QUEUES.incidentReports, 'customer-impact.updated'];
    const { bodies } = collect(open.broker, queue);
    await publishSafely(open.broker, newMessage(type, 'before'));
    await eventually(() => bodies.includes('before'));
    await channel.deleteQueue(queueName(open.namespace, queue));
    await eventually(async () => (await open.broker.publish([newMessage(type, 'after')]))[0] === 'confirmed');
    await eventually(() => bodies.includes('after'));
  });

  test('the messages that wait in a queue are counted, again after the queue was missing', async () => {
    const [queue, type] = [QUEUES.incidentReports, 'customer-impact.updated'];
    for (const text of ['one', 'two']) await publishSafely(open.broker, newMessage(type, text));
    expect(await open.broker.countWaiting(queue)).toBe(2);
    await channel.deleteQueue(queueName(open.namespace, queue));
    expect(await open.broker.countWaiting(queue)).toBeUndefined();
    await eventually(async () => (await open.broker.publish([newMessage(type, 'three')]))[0] === 'confirmed');
    expect(await open.broker.countWaiting(queue)).toBe(1);
  });

  test('a rejected message is in the dead-letter queue, unchanged', async () => {
    collect(open.broker, QUEUES.incidentReports, () => 'dead-letter');
    const message = newMessage('customer-impact.updated', '{"evidence":true}');
    await publishSafely(open.broker, message);
    const dead = await eventually(() => channel.get(deadLetterQueueName(open.namespace, QUEUES.incidentReports)));
    expect(dead.content.toString()).toBe(message.body);
    expect(dead.properties.messageId).toBe(message.id);
    channel.ack(dead);
  });
});

describeWithOwnRabbitMq('when the broker itself is killed', () => {
  let rabbitMq: OwnRabbitMq;
  beforeAll(async () => {
    rabbitMq = await startRabbitMq();
  });
  afterAll(async () => rabbitMq.remove());

  test('no confirmed message is lost', async () => {
    const { broker } = await openBroker(rabbitMq.url);
    const sent = Array.from({ length: 200 }, (_, index) => newMessage('customer-impact.updated', String(index)));
    const publishing = Promise.all(sent.map(async (message) => publishSafely(broker, message)));
    await eventually(async () => (await broker.publish([newMessage('of.nobody')]))[0] === 'unroutable');
    await rabbitMq.kill();
    await eventually(() => !broker.connected);
    await rabbitMq.start();
    expect(new Set(await publishing)).toEqual(new Set(['confirmed']));

    const { bodies } = collect(broker, QUEUES.incidentReports);
    const missing = () => sent.filter(({ body }) => !bodies.includes(body));
    await eventually(() => missing().length === 0, { what: 'every message' });
    await broker.close();
  });
});
