import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, type OwnRabbitMq, startRabbitMq } from '@tocsin/testing';
import { describeWithOwnRabbitMq } from '@tocsin/testing/suites';
import { consume, type EventConsumer, rememberInMemory, replayDeadLetters, type TocsinEvent } from '../src/index.ts';
import { consuming, countReady, incidentEvent, prepareBroker, publish, recorder, withChannel } from './exchange.ts';

const QUICK = { retryDelays: [10] };

describeWithOwnRabbitMq('a consumer of events', () => {
  let broker: OwnRabbitMq;
  /** The URL of the user that may use only its own queues. */
  let connection: string;
  let queue: string;
  let record: ReturnType<typeof recorder>;
  const started: EventConsumer[] = [];
  const start = <Consumer extends EventConsumer>(consumer: Consumer): Consumer => {
    started.push(consumer);
    return consumer;
  };

  beforeAll(async () => {
    broker = await startRabbitMq();
    connection = await prepareBroker(broker);
  });
  afterAll(async () => broker.remove(), 60_000);
  beforeEach(() => {
    queue = `billing.${randomUUID()}`;
    record = recorder();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map(async ({ stop }) => stop()));
    await withChannel(broker.url, async (channel) => channel.deleteQueue(queue));
  });

  const outcomesOf = async (count: number) =>
    eventually(() => record.outcomes.length >= count && record.outcomes, { what: `${count} outcomes` });

  test('handles the types that it names, ignores others, and handles no event twice', async () => {
    const handled: TocsinEvent[] = [];
    const handle = (event: TocsinEvent) => void handled.push(event);
    // The first node of the cluster is down.
    const nodes = ['amqp://127.0.0.1:1', connection];
    const consumer = start(consume({ connection: nodes, queue, types: ['incident.*'], handle, ...record.callbacks }));
    await consuming(consumer);
    const event = incidentEvent(1);
    const unknown = { ...incidentEvent(1), type: 'incident.exploded' };
    await publish(broker.url, [event, event, unknown, { ...incidentEvent(1), type: 'service.changed' }]);
    expect((await outcomesOf(3)).toSorted()).toEqual(['duplicate', 'handled', 'ignored']);
    expect(handled).toEqual([event]);
    // Of types that the queue was bound to before.
    await consumer.stop();
    const later = start(consume({ connection, queue, types: ['incident.created'], handle, ...record.callbacks }));
    await consuming(later);
    await publish(broker.url, [incidentEvent(2)]);
    expect((await outcomesOf(4)).at(-1)).toBe('ignored');
    expect(handled).toHaveLength(1);
    expect(record.errors.map(({ code }) => code)).toEqual(['connection']);
  });

  test('moves messages that it cannot read to the dead letters at once', async () => {
    const handle = () => undefined;
    start(consume({ connection, queue, types: ['#'], handle, maxBytes: 10_000, ...record.callbacks }));
    await eventually(() => record.states.includes('consuming'));
    const newer = { ...incidentEvent(1), schema_version: 2 };
    const huge = { ...incidentEvent(1), filler: 'x'.repeat(10_000) };
    const unfit = { ...incidentEvent(1), data: { incident: { id: 1 } } };
    await publish(broker.url, ['{"id":', newer, huge, unfit]);
    expect((await outcomesOf(4)).toSorted()).toEqual([
      ...['broken_message', 'broken_message', 'broken_message', 'newer_version'],
    ]);
    await eventually(async () => (await countReady(connection, `${queue}.dead`)) === 4);
    expect(record.errors.map(({ code }) => code).toSorted()).toEqual(record.outcomes.toSorted());
    expect(record.errors.find(({ code }) => code === 'newer_version')?.event).toEqual({
      id: newer.id,
      type: newer.type,
    });
  });

  test('delivers a failed event again up to the limit, and handles it after a replay', async () => {
    let works = false;
    const failures: number[] = [];
    const handle = async (_: TocsinEvent, context: { failures: number }) => {
      failures.push(context.failures);
      if (!works) throw new Error('not now');
    };
    const options = { connection, queue, types: ['#'], deliveryLimit: 3, ...QUICK, ...record.callbacks } as const;
    start(consume({ ...options, handle }));
    await eventually(() => record.states.includes('consuming'));
    const event = incidentEvent(1);
    await publish(broker.url, [event]);
    await eventually(async () => (await countReady(connection, `${queue}.dead`)) === 1);
    expect(failures).toEqual([0, 1, 2]);
    expect(record.errors.map(({ code, isFinal, cause }) => [code, isFinal, (cause as Error).message])).toEqual([
      ['handler_failed', false, 'not now'],
      ['handler_failed', false, 'not now'],
      ['handler_failed', true, 'not now'],
    ]);
    works = true;
    expect(await replayDeadLetters({ connection, queue })).toEqual({ replayed: 1 });
    expect((await outcomesOf(4)).at(-1)).toBe('handled');
    expect(failures).toEqual([0, 1, 2, 0]);
    expect(await replayDeadLetters({ connection, queue })).toEqual({ replayed: 0 });
  });

  test('a failing event does not keep others waiting', async () => {
    const handled: number[] = [];
    const handle = async ({ data }: TocsinEvent<'incident.updated'>) => {
      if (data.incident.id === 1) throw new Error('never');
      handled.push(data.incident.id);
    };
    const options = { connection, queue, types: ['incident.updated'], retryDelays: [600_000], concurrency: 1 } as const;
    const consumer = start(consume({ ...options, handle, ...record.callbacks }));
    await consuming(consumer);
    await publish(
      broker.url,
      [1, 2, 3].map((number) => incidentEvent(number)),
    );
    await eventually(() => handled.length === 2);
    // The waiting event returns to the queue.
    expect(await consumer.stop()).toEqual({ unfinished: 0 });
    await eventually(async () => (await countReady(connection, queue)) === 1);
  });

  describe('with order by revision', () => {
    test('ignores older revisions and handles a resource by one handler at a time', async () => {
      const running = new Set<number>();
      const handled = new Map<number, number[]>();
      let most = 0;
      let overlaps = 0;
      const handle = async ({ data }: TocsinEvent<'incident.updated'>) => {
        const { id, revision } = data.incident;
        if (running.has(id)) overlaps += 1;
        running.add(id);
        most = Math.max(most, running.size);
        await new Promise(setImmediate);
        running.delete(id);
        handled.set(id, [...(handled.get(id) ?? []), revision]);
      };
      const options = { connection, queue, types: ['incident.updated'], order: 'revision', concurrency: 4 } as const;
      await consuming(start(consume({ ...options, handle, ...record.callbacks })));
      const numbers = Array.from({ length: 10 }, (_, index) => index + 1);
      const messages = [1, 3, 2, 4, 4].flatMap((revision) =>
        numbers.map((number) => incidentEvent(number, { revision })),
      );
      await publish(broker.url, messages);
      await outcomesOf(messages.length);
      expect([...handled.values()]).toEqual(numbers.map(() => [1, 3, 4, 4]));
      expect(record.outcomes.filter((outcome) => outcome === 'outdated')).toHaveLength(10);
      expect(overlaps).toBe(0);
      expect(most).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(4);
    });
  });

  test('pauses during an outage, which counts against no event', async () => {
    let isDown = true;
    const failures: number[] = [];
    const handle = async (_: TocsinEvent, context: { failures: number }) => {
      failures.push(context.failures);
      if (isDown) throw new Error('the database is down');
    };
    const isOutage = (error: unknown) => error instanceof Error && error.message.includes('down');
    const options = { connection, queue, types: ['#'], concurrency: 1, deliveryLimit: 1, isOutage } as const;
    const consumer = start(consume({ ...options, handle, ...record.callbacks }));
    await consuming(consumer);
    await publish(
      broker.url,
      [1, 2, 3].map((number) => incidentEvent(number)),
    );
    await eventually(() => consumer.state === 'paused');
    await eventually(() => failures.length === 2);
    isDown = false;
    expect(await outcomesOf(3)).toEqual(['handled', 'handled', 'handled']);
    expect(consumer.state).toBe('consuming');
    expect(new Set(failures)).toEqual(new Set([0]));
    expect(record.errors.map(({ code }) => code)).toEqual(['outage']);
  });

  describe('that stops', () => {
    test('waits for handlers under way, and leaves the rest in the queue', async () => {
      const gate = Promise.withResolvers<void>();
      const handle = async () => gate.promise;
      const consumer = start(consume({ connection, queue, types: ['#'], concurrency: 2, handle, ...record.callbacks }));
      await consuming(consumer);
      await publish(
        broker.url,
        [1, 2].map((number) => incidentEvent(number)),
      );
      await eventually(async () => (await countReady(connection, queue)) === 0);
      const stopped = consumer.stop();
      await publish(broker.url, [incidentEvent(3)]);
      gate.resolve();
      expect(await stopped).toEqual({ unfinished: 0 });
      expect(record.outcomes.filter((outcome) => outcome === 'handled').length).toBeGreaterThanOrEqual(2);
      await eventually(async () => (await countReady(connection, queue)) === 3 - record.outcomes.length);
      expect(await connectionsOf(broker)).toBe(0);
    });

    test('aborts handlers that take longer, and their events return to the queue', async () => {
      const aborts = new AbortController();
      let begun = false;
      const handle = async (_: TocsinEvent, { signal }: { signal: AbortSignal }) => {
        begun = true;
        const { promise, reject } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        await promise;
      };
      const consumer = start(
        consume({
          connection,
          queue,
          types: ['#'],
          handle,
          stopTimeout: 50,
          signal: aborts.signal,
          ...record.callbacks,
        }),
      );
      await consuming(consumer);
      await publish(broker.url, [incidentEvent(1)]);
      await eventually(() => begun);
      aborts.abort();
      expect(await consumer.stop()).toEqual({ unfinished: 1 });
      expect(consumer.state).toBe('stopped');
      await eventually(async () => (await countReady(connection, queue)) === 1);
      expect(record.errors).toEqual([]);
    });

    test('reports a handler that takes too long, and aborts its signal', async () => {
      const handle = async (_: TocsinEvent, { signal }: { signal: AbortSignal }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve());
        await promise;
      };
      const consumer = start(
        consume({ connection, queue, types: ['#'], handle, handleTimeout: 20, ...record.callbacks }),
      );
      await consuming(consumer);
      await publish(broker.url, [incidentEvent(1)]);
      expect(await outcomesOf(1)).toEqual(['handled']);
      expect(record.errors.map(({ code }) => code)).toEqual(['handler_late']);
    });
  });

  test('gives a handler up that ignores its signal, and handles the event and others of its resource', async () => {
    const handled: number[] = [];
    let isFirst = true;
    const handle = async (event: TocsinEvent<'incident.updated'>) => {
      if (isFirst) {
        isFirst = false;
        await new Promise(() => undefined);
      }
      handled.push(event.data.incident.revision);
    };
    const limits = { handleTimeout: 50, giveUpTimeout: 50, concurrency: 1 };
    const types = ['incident.updated'] as const;
    const consumer = start(
      consume({ connection, queue, types, handle, order: 'revision', ...limits, ...QUICK, ...record.callbacks }),
    );
    await consuming(consumer);
    await publish(broker.url, [incidentEvent(1), incidentEvent(1, { revision: 2 })]);
    const outcomes = await outcomesOf(3);
    expect(outcomes[0]).toBe('handler_failed');
    expect(handled).toContain(2);
    expect(record.errors.map(({ code }) => code)).toEqual(['handler_late', 'handler_failed']);
    expect(await consumer.stop()).toEqual({ unfinished: 0 });
  });

  test('consumes again after its queue was deleted, and with one consumer only', async () => {
    const remember = rememberInMemory();
    const consumer = start(
      consume({ connection, queue, types: ['#'], remember, handle: () => undefined, ...record.callbacks }),
    );
    await consuming(consumer);
    await withChannel(broker.url, async (channel) => channel.deleteQueue(queue));
    await eventually(() => record.states.includes('waiting'));
    await consuming(consumer);
    for (const _ of [1, 2, 3]) {
      record.states.length = 0;
      await broker.control('close_all_connections', 'test');
      await eventually(() => record.states.includes('waiting'));
      await consuming(consumer);
    }
    await publish(broker.url, [incidentEvent(1)]);
    await outcomesOf(1);
    expect(await withChannel(broker.url, async (channel) => (await channel.checkQueue(queue)).consumerCount)).toBe(1);
    expect(await connectionsOf(broker)).toBe(1);
    expect(record.errors.every(({ code }) => code === 'connection')).toBe(true);
  });

  test('says why it cannot start, and starts once it can', async () => {
    const namespace = `later-${randomUUID()}`;
    const options = { connection: broker.url, queue, types: ['#'], namespace } as const;
    const consumer = start(consume({ ...options, handle: () => undefined, ...record.callbacks }));
    await eventually(() => record.errors.length > 0);
    expect((record.errors[0]?.cause as Error).message).toContain(`no exchange '${namespace}.events'`);
    await withChannel(broker.url, async (channel) => channel.assertExchange(`${namespace}.events`, 'topic'));
    await consuming(consumer);
  });

  test('has a user that can write only to its own queues', async () => {
    const attempt = async (work: (channel: Parameters<Parameters<typeof withChannel>[1]>[0]) => Promise<unknown>) =>
      withChannel(connection, work);
    await expect(attempt(async (channel) => channel.assertQueue('tocsin.webhook.feed'))).rejects.toThrow('403');
    const publishing = attempt(async (channel) => {
      channel.sendToQueue('tocsin.webhook.feed', Buffer.from('{}'));
      await channel.waitForConfirms();
    });
    await expect(publishing).rejects.toThrow();
    const forging = attempt(async (channel) => {
      channel.publish('tocsin.events', 'incident.created', Buffer.from('{}'));
      await channel.waitForConfirms();
    });
    await expect(forging).rejects.toThrow();
  });

  test('handles every event once while the broker is killed and restarted', async () => {
    const [perRound, atOnce] = [100, 10];
    const handled = new Map<string, number>();
    let gate = Promise.withResolvers<void>();
    let [begun, free] = [0, 0];
    const handle = async (event: TocsinEvent) => {
      begun += 1;
      if (begun > free) await gate.promise;
      handled.set(event.id, (handled.get(event.id) ?? 0) + 1);
    };
    const options = { connection, queue, types: ['incident.*'], concurrency: atOnce, handle } as const;
    const consumer = start(consume({ ...options, ...record.callbacks }));
    await consuming(consumer);
    const sent: string[] = [];
    for (const round of [1, 2]) {
      gate = Promise.withResolvers<void>();
      free = begun + 30;
      const events = Array.from({ length: perRound }, (_, index) => incidentEvent(round * 1_000 + index));
      sent.push(...events.map(({ id }) => id));
      await publish(broker.url, events);
      // In the middle of the work: some events are acknowledged, some are being handled, the others wait.
      await eventually(() => begun === free + atOnce);
      await writeQueues(broker);
      await broker.kill();
      await eventually(() => consumer.state === 'waiting');
      // These have their effect, but cannot be acknowledged.
      free = Infinity;
      gate.resolve();
      await broker.start();
      await eventually(() => handled.size === sent.length, { what: 'all events' });
      await eventually(() => record.outcomes.length >= sent.length + round * atOnce);
    }
    expect([...handled.keys()].toSorted()).toEqual(sent.toSorted());
    expect([...handled.values()].every((times) => times === 1)).toBe(true);
    const count = (outcome: string) => record.outcomes.filter((other) => other === outcome).length;
    expect(count('handled')).toBe(sent.length);
    expect(count('duplicate')).toBeGreaterThanOrEqual(2 * atOnce);
    expect(count('handled') + count('duplicate')).toBe(record.outcomes.length);
    expect(record.errors.every(({ code }) => code === 'connection')).toBe(true);
    expect(await countReady(connection, `${queue}.dead`)).toBe(0);
    expect(await connectionsOf(broker)).toBe(1);
  });
});

/**
 * Writes what RabbitMQ keeps in memory about its queues to the disk, which it does half a second late: a queue that was
 * declared right before a kill would be empty after it, and without a leader.
 */
async function writeQueues(broker: OwnRabbitMq): Promise<void> {
  await broker.control('eval', '[dets:sync(Table) || Table <- dets:all()].');
}

/** The connections of consumers; those of the test itself are closed, or about to close. */
async function connectionsOf(broker: OwnRabbitMq): Promise<number> {
  const lines = async () => (await broker.control('list_connections', 'user')).split('\n');
  const count = (users: string[]) => users.filter((user) => user === 'billing').length;
  return count(await lines());
}
