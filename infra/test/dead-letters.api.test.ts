import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deadLetterQueueName, exchangeName, QUEUES, queueName } from '@tocsin/contracts';
import { AmqpBroker, type Subscription, type Verdict } from '@tocsin/messaging';
import { createLogger } from '@tocsin/runtime';
import { eventually, testServers } from '@tocsin/testing';
import { describeWithBroker } from '@tocsin/testing/suites';
import { type ChannelModel, connect } from 'amqplib';
import { runDeadLetters } from '../dead-letters/run-dead-letters.ts';

const queue = QUEUES.webhookIncidents;

describeWithBroker('dead letters', () => {
  const namespace = `tocsin-test-${randomBytes(4).toString('hex')}`;
  const env = { AMQP_URL: testServers().amqpUrl, TOCSIN_NAMESPACE: namespace, TOCSIN_DATA_DIR: '/nowhere' };
  let connection: ChannelModel;
  let broker: AmqpBroker;
  let subscription: Subscription;
  let verdict: Verdict = 'dead-letter';
  const handled: string[] = [];

  beforeAll(async () => {
    connection = await connect(env.AMQP_URL ?? '');
    broker = new AmqpBroker({
      url: env.AMQP_URL ?? '',
      namespace,
      log: createLogger({ app: 'test', level: 'silent' }),
    });
    subscription = broker.subscribe(queue, async ({ body }) => {
      handled.push(body.toString());
      return verdict;
    });
    await eventually(() => broker.connected);
  });
  afterAll(async () => {
    await subscription.stop();
    await broker.close();
    const channel = await connection.createChannel();
    for (const definition of Object.values(QUEUES)) {
      await channel.deleteQueue(queueName(namespace, definition));
      await channel.deleteQueue(deadLetterQueueName(namespace, definition));
    }
    await channel.deleteExchange(exchangeName(namespace));
    await connection.close();
  });

  const run = async (...args: string[]) => JSON.parse(await runDeadLetters(args, env));
  const waiting = async () => (await run('list')).dead_letters[queue.name] as number;

  test('are counted, shown, sent back and thrown away by command', async () => {
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const messages = ids.map((id, index) => ({ id, type: 'incident.created', body: `broken ${index}` }));
    expect(await broker.publish(messages)).toEqual(['confirmed', 'confirmed', 'confirmed']);
    await eventually(async () => (await waiting()) === 3, { what: 'three dead letters' });

    const shown = await run('show', '--queue', queue.name);
    expect(shown.dead_letters.map(({ body }: { body: string }) => body).sort()).toEqual([
      'broken 0',
      'broken 1',
      'broken 2',
    ]);
    expect(shown.dead_letters[0]).toMatchObject({
      type: 'incident.created',
      reason: 'rejected',
      id: expect.any(String),
    });
    expect(await waiting()).toBe(3);

    verdict = 'ack';
    handled.length = 0;
    expect(await run('replay', '--queue', queue.name, '--most', '2')).toEqual({ replayed: 2 });
    await eventually(() => handled.length === 2, { what: 'two messages at their consumer' });
    expect(await waiting()).toBe(1);

    expect(await run('discard', '--queue', queue.name, '--most', '9')).toEqual({ discarded: 1 });
    expect(await waiting()).toBe(0);
    expect(handled).toHaveLength(2);
  });

  test.each([
    [['show'], 'name the queue'],
    [['show', '--queue', 'x'], '--queue: x is none of'],
    [['replay', '--queue', queue.name, '--most', '0'], '--most: 0'],
    [['discard', '--queue', queue.name], 'say how many'],
    [['dance'], 'usage'],
    [[], 'usage'],
    [['list', '--loud'], '--loud'],
  ])('%j is refused with a reason', async (args, reason) => {
    await expect(runDeadLetters(args, env)).rejects.toThrow(reason);
  });
});
