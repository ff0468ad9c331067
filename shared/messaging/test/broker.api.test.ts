import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type QueueDefinition, QUEUES } from '@tocsin/schemas';
import { eventually, testServers } from '@tocsin/testing';
import { describeWithBroker } from '@tocsin/testing/suites';
import { DELIVERY_LIMIT, MemoryBroker } from '../src/index.ts';
import {
  collect,
  type Decide,
  newMessage,
  type OpenBroker,
  openBroker,
  publishSafely,
  QUICK_RETRIES,
} from './brokers.ts';

/** The tests of every broker. Each test starts its own. */
function describeBroker(start: () => Promise<OpenBroker>): void {
  let open: OpenBroker;
  const broker = () => open.broker;
  beforeEach(async () => {
    open = await start();
  });
  afterEach(async () => open.remove());
  const consume = (queue: QueueDefinition, decide: Decide = () => 'ack') => collect(broker(), queue, decide);

  test('a message is delivered, byte for byte, to every queue bound to its type and to no other', async () => {
    const consumers = [consume(QUEUES.incidentReplicas), consume(QUEUES.catalogReplicas)] as const;
    const other = consume(QUEUES.incidentReports);
    const body = JSON.stringify({ name: 'Zoë \u{1F525}' });
    expect(await publishSafely(broker(), newMessage('user.changed', body))).toBe('confirmed');
    expect(await publishSafely(broker(), newMessage('customer-impact.updated', 'last'))).toBe('confirmed');
    for (const { bodies } of consumers) await eventually(() => bodies.length > 0);
    await eventually(() => other.bodies.length > 0);
    for (const { bodies, redelivered } of consumers) {
      expect(bodies).toEqual([body]);
      expect(redelivered).toEqual([false]);
    }
    expect(other.bodies).toEqual(['last']);
  });

  test('every message of a batch has its own outcome, in order', async () => {
    consume(QUEUES.incidentReports);
    const types = ['customer-impact.updated', 'of.nobody', 'customer-impact.updated', 'of.nobody'];
    expect(await broker().publish(types.map((type) => newMessage(type)))).toEqual([
      'confirmed',
      'unroutable',
      'confirmed',
      'unroutable',
    ]);
    expect(await broker().publish([])).toEqual([]);
  });

  test('a message that its consumer could not handle is redelivered, marked as such, until it is handled', async () => {
    const { bodies, redelivered } = consume(QUEUES.incidentReports, (_, nth) => (nth < 3 ? 'retry' : 'ack'));
    await publishSafely(broker(), newMessage('customer-impact.updated', 'stubborn'));
    await eventually(() => bodies.length === 3);
    await publishSafely(broker(), newMessage('customer-impact.updated', 'next'));
    await eventually(() => bodies.includes('next'));
    expect(bodies).toEqual(['stubborn', 'stubborn', 'stubborn', 'next']);
    expect(redelivered).toEqual([false, true, true, false]);
  });

  test(`a message that cannot be handled is delivered ${DELIVERY_LIMIT} times, then dead-lettered`, async () => {
    const { bodies } = consume(QUEUES.incidentReports, ({ body }) => (body.toString() === 'poison' ? 'retry' : 'ack'));
    await publishSafely(broker(), newMessage('customer-impact.updated', 'poison'));
    await eventually(() => bodies.length >= DELIVERY_LIMIT);
    await publishSafely(broker(), newMessage('customer-impact.updated', 'next'));
    await eventually(() => bodies.includes('next'));
    expect(bodies.filter((body) => body === 'poison')).toHaveLength(DELIVERY_LIMIT);
  });

  test('a rejected message is not redelivered', async () => {
    const { bodies } = consume(QUEUES.incidentReports, ({ body }) =>
      body.toString() === 'bad' ? 'dead-letter' : 'ack',
    );
    await publishSafely(broker(), newMessage('customer-impact.updated', 'bad'));
    await publishSafely(broker(), newMessage('customer-impact.updated', 'good'));
    await eventually(() => bodies.includes('good'));
    expect(bodies).toEqual(['bad', 'good']);
  });

  test('a requeued message does not count as delivered, and is delivered as if for the first time', async () => {
    const returns = 2 * DELIVERY_LIMIT;
    const { bodies, redelivered } = consume(QUEUES.incidentReports, (_, nth) => (nth <= returns ? 'requeue' : 'ack'));
    await publishSafely(broker(), newMessage('customer-impact.updated', 'patient'));
    await eventually(() => bodies.length > returns);
    await publishSafely(broker(), newMessage('customer-impact.updated', 'next'));
    await eventually(() => bodies.includes('next'));
    expect(bodies).toEqual([...Array.from({ length: returns + 1 }, () => 'patient'), 'next']);
    expect(redelivered).not.toContain(true);
  });

  test('a subscription that stops finishes the messages in progress and takes no more', async () => {
    const working = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const { bodies, stop } = consume(QUEUES.incidentReports, async () => {
      working.resolve();
      await finish.promise;
      return 'ack' as const;
    });
    const published = publishSafely(broker(), newMessage('customer-impact.updated', 'begun'));
    await working.promise;
    let stopped = false;
    const stopping = stop().then(() => (stopped = true));
    await broker().publish([newMessage('of.nobody')]);
    expect(stopped).toBe(false);
    finish.resolve();
    await stopping;
    expect(await published).toBe('confirmed');

    // The next subscription gets the next message.
    const later = publishSafely(broker(), newMessage('customer-impact.updated', 'later'));
    const next = consume(QUEUES.incidentReports);
    await later;
    await eventually(() => next.bodies.length > 0);
    expect(next.bodies).toEqual(['later']);
    expect(bodies).toEqual(['begun']);
  });

  test('a subscription that stops before it has started takes no messages', async () => {
    const hasty = consume(QUEUES.incidentReports);
    await hasty.stop();
    const next = consume(QUEUES.incidentReports);
    const sent = Array.from({ length: 10 }, (_, index) => String(index));
    for (const body of sent) await publishSafely(broker(), newMessage('customer-impact.updated', body));
    await eventually(() => next.bodies.length === sent.length);
    expect(hasty.bodies).toEqual([]);
  });

  test('a message is kept for every queue bound to its type, even while one has no consumer', async () => {
    const early = consume(QUEUES.incidentReplicas);
    const published = publishSafely(broker(), newMessage('user.changed', 'kept'));
    await eventually(() => early.bodies.length > 0);
    const late = consume(QUEUES.catalogReplicas);
    expect(await published).toBe('confirmed');
    await eventually(() => late.bodies.length > 0);
    expect(new Set([...early.bodies, ...late.bodies])).toEqual(new Set(['kept']));
  });

  test('subscriptions of one queue share its messages', async () => {
    const pair = [consume(QUEUES.incidentReports), consume(QUEUES.incidentReports)];
    const bodies = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    await Promise.all(bodies.map(async (body) => publishSafely(broker(), newMessage('customer-impact.updated', body))));
    const received = () => pair.flatMap((inbox) => inbox.bodies);
    await eventually(() => received().length >= bodies.length);
    expect(received().toSorted()).toEqual(bodies.toSorted());
  });
}

describe('the broker in memory', () => {
  describeBroker(async () => {
    const broker = new MemoryBroker({ retryDelays: QUICK_RETRIES });
    return { broker, remove: async () => broker.close() };
  });

  test('closes when the messages in progress are finished', async () => {
    const broker = new MemoryBroker();
    const finish = Promise.withResolvers<void>();
    const { bodies } = collect(broker, QUEUES.incidentReports, async () => {
      await finish.promise;
      return 'ack' as const;
    });
    const published = broker.publish([newMessage('customer-impact.updated', 'begun')]);
    await eventually(() => bodies.length === 1);
    let closed = false;
    const close = broker.close().then(() => (closed = true));
    expect(await broker.publish([newMessage('customer-impact.updated')])).toEqual(['failed']);
    expect(closed).toBe(false);
    finish.resolve();
    await close;
    expect(await published).toEqual(['confirmed']);
  });
});

describeWithBroker('the broker over AMQP', () => {
  describeBroker(async () => openBroker(testServers().amqpUrl ?? ''));
});
