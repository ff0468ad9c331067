import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type QueueDefinition, QUEUES } from '@tocsin/contracts';
import { eventually, testServers } from '@tocsin/testing';
import { describeWithBroker } from '@tocsin/testing/suites';
import { DELIVERY_LIMIT, MemoryBroker } from '../src/index.ts';
import {
  collect,
  type Judge,
  newMessage,
  type OpenBroker,
  openBroker,
  publishSafely,
  SET_UP_PATIENCE,
} from './brokers.ts';

/** What every broker promises; each test has one of its own. */
function promises(start: () => Promise<OpenBroker>): void {
  let open: OpenBroker;
  const broker = () => open.broker;
  beforeEach(async () => {
    open = await start();
  }, SET_UP_PATIENCE);
  afterEach(async () => open.remove(), SET_UP_PATIENCE);
  const consume = (queue: QueueDefinition, judge: Judge = () => 'ack') => collect(broker(), queue, judge);

  test('a message comes to every queue that takes its type, byte for byte, and to no other', async () => {
    const takers = [consume(QUEUES.incidentReplicas), consume(QUEUES.catalogReplicas)] as const;
    const other = consume(QUEUES.webhookIncidents);
    const body = JSON.stringify({ name: 'Zoë \u{1F525}' });
    expect(await publishSafely(broker(), newMessage('user.changed', body))).toBe('confirmed');
    expect(await publishSafely(broker(), newMessage('incident.created', 'last'))).toBe('confirmed');
    for (const { bodies } of takers) await eventually(() => bodies.length > 0);
    await eventually(() => other.bodies.length > 0);
    for (const { bodies, redelivered } of takers) {
      expect(bodies).toEqual([body]);
      expect(redelivered).toEqual([false]);
    }
    expect(other.bodies).toEqual(['last']);
  });

  test('every message of a batch has its own outcome, in order', async () => {
    consume(QUEUES.webhookIncidents);
    const types = ['incident.created', 'incident.updated', 'incident.created', 'of.nobody'];
    expect(await broker().publish(types.map((type) => newMessage(type)))).toEqual([
      'confirmed',
      'unroutable',
      'confirmed',
      'unroutable',
    ]);
    expect(await broker().publish([])).toEqual([]);
  });

  test('a message that its consumer could not handle comes again, marked so, until it is handled', async () => {
    const { bodies, redelivered } = consume(QUEUES.webhookIncidents, (_, nth) => (nth < 3 ? 'retry' : 'ack'));
    await publishSafely(broker(), newMessage('incident.created', 'stubborn'));
    await eventually(() => bodies.length === 3);
    await publishSafely(broker(), newMessage('incident.created', 'next'));
    await eventually(() => bodies.includes('next'));
    expect(bodies).toEqual(['stubborn', 'stubborn', 'stubborn', 'next']);
    expect(redelivered).toEqual([false, true, true, false]);
  });

  test(`a message that nobody can handle comes ${DELIVERY_LIMIT} times, and is out of the way then`, async () => {
    const { bodies } = consume(QUEUES.webhookIncidents, ({ body }) => (body.toString() === 'poison' ? 'retry' : 'ack'));
    await publishSafely(broker(), newMessage('incident.created', 'poison'));
    await eventually(() => bodies.length >= DELIVERY_LIMIT);
    await publishSafely(broker(), newMessage('incident.created', 'next'));
    await eventually(() => bodies.includes('next'));
    expect(bodies.filter((body) => body === 'poison')).toHaveLength(DELIVERY_LIMIT);
  });

  test('a handler that fails without a verdict is as good as one that asks for another try', async () => {
    const { bodies } = consume(QUEUES.webhookIncidents, (_, nth) => {
      if (nth === 1) throw new Error('a fault of the handler');
      return 'ack';
    });
    await publishSafely(broker(), newMessage('incident.created', 'unlucky'));
    await eventually(() => bodies.length === 2);
    expect(bodies).toEqual(['unlucky', 'unlucky']);
  });

  test('a message that is refused does not come again', async () => {
    const { bodies } = consume(QUEUES.webhookIncidents, ({ body }) =>
      body.toString() === 'bad' ? 'dead-letter' : 'ack',
    );
    await publishSafely(broker(), newMessage('incident.created', 'bad'));
    await publishSafely(broker(), newMessage('incident.created', 'good'));
    await eventually(() => bodies.includes('good'));
    expect(bodies).toEqual(['bad', 'good']);
  });

  test('a subscription that stops finishes what it has begun, and takes nothing more', async () => {
    const working = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const { bodies, stop } = consume(QUEUES.webhookIncidents, async () => {
      working.resolve();
      await finish.promise;
      return 'ack' as const;
    });
    const published = publishSafely(broker(), newMessage('incident.created', 'begun'));
    await working.promise;
    let stopped = false;
    const stopping = stop().then(() => (stopped = true));
    await broker().publish([newMessage('of.nobody')]);
    expect(stopped).toBe(false);
    finish.resolve();
    await stopping;
    expect(await published).toBe('confirmed');

    // What comes now is for the next one.
    const later = publishSafely(broker(), newMessage('incident.created', 'later'));
    const next = consume(QUEUES.webhookIncidents);
    await later;
    await eventually(() => next.bodies.length > 0);
    expect(next.bodies).toEqual(['later']);
    expect(bodies).toEqual(['begun']);
  });

  test('a subscription that stops before it has begun takes nothing', async () => {
    const hasty = consume(QUEUES.webhookIncidents);
    await hasty.stop();
    const next = consume(QUEUES.webhookIncidents);
    const sent = Array.from({ length: 10 }, (_, index) => String(index));
    for (const body of sent) await publishSafely(broker(), newMessage('incident.created', body));
    await eventually(() => next.bodies.length === sent.length);
    expect(hasty.bodies).toEqual([]);
  });

  test('a subscription that stops does not wait for the work of another', async () => {
    const working = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    consume(QUEUES.webhookIncidents, async () => {
      working.resolve();
      await finish.promise;
      return 'ack' as const;
    });
    const idle = consume(QUEUES.catalogReplicas);
    const published = publishSafely(broker(), newMessage('incident.created'));
    await working.promise;
    await idle.stop();
    finish.resolve();
    expect(await published).toBe('confirmed');
  });

  test('a message is kept for every queue that takes it, also while one of them has no consumer', async () => {
    const early = consume(QUEUES.incidentReplicas);
    const published = publishSafely(broker(), newMessage('user.changed', 'kept'));
    await eventually(() => early.bodies.length > 0);
    const late = consume(QUEUES.catalogReplicas);
    expect(await published).toBe('confirmed');
    await eventually(() => late.bodies.length > 0);
    expect(new Set([...early.bodies, ...late.bodies])).toEqual(new Set(['kept']));
  });

  test('subscriptions of one queue share its messages', async () => {
    const pair = [consume(QUEUES.webhookIncidents), consume(QUEUES.webhookIncidents)];
    const bodies = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    await Promise.all(bodies.map(async (body) => publishSafely(broker(), newMessage('incident.created', body))));
    const received = () => pair.flatMap((inbox) => inbox.bodies);
    await eventually(() => received().length >= bodies.length);
    expect(received().toSorted()).toEqual(bodies.toSorted());
  });
}

describe('the broker in memory', () => {
  promises(async () => {
    const broker = new MemoryBroker();
    return { broker, remove: async () => broker.close() };
  });

  test('is closed when the work under way is done', async () => {
    const broker = new MemoryBroker();
    const finish = Promise.withResolvers<void>();
    const { bodies } = collect(broker, QUEUES.webhookIncidents, async () => {
      await finish.promise;
      return 'ack' as const;
    });
    const published = broker.publish([newMessage('incident.created', 'begun')]);
    await eventually(() => bodies.length === 1);
    let closed = false;
    const close = broker.close().then(() => (closed = true));
    expect(await broker.publish([newMessage('incident.created')])).toEqual(['failed']);
    expect(closed).toBe(false);
    finish.resolve();
    await close;
    expect(await published).toEqual(['confirmed']);
  });
});

describeWithBroker('the broker over AMQP', () => {
  promises(async () => openBroker(testServers().amqpUrl ?? ''));
});
