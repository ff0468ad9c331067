import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUES, queueName } from '@tocsin/schemas';
import { type Subscription, type Disposition } from '@tocsin/messaging';
import { AmqpBroker } from '@tocsin/messaging/amqp';
import { createLogger } from '@tocsin/runtime';
import { eventually, removeTopology, startRabbitMq, testServers } from '@tocsin/testing';
import { describeWithBroker, describeWithOwnRabbitMq } from '@tocsin/testing/suites';
import { type ChannelModel, connect } from 'amqplib';
import { runAdmin } from '../run-admin.ts';
import { withInstance } from './registered-instance.ts';
import { adminCommand } from '../../verification/systems/admin-command.ts';
import { running, temporaryFolder } from '../../verification/systems/running.ts';

const queue = QUEUES.webhookFeed;

describeWithBroker('dead letters', () => {
  const namespace = `tocsin-test-${randomBytes(4).toString('hex')}`;
  const env = { AMQP_URL: testServers().amqpUrl, TOCSIN_NAMESPACE: namespace, TOCSIN_DATA_DIR: '/nowhere' };
  let connection: ChannelModel;
  let broker: AmqpBroker;
  let subscription: Subscription;
  let disposition: Disposition = 'dead-letter';
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
      return disposition;
    });
    await eventually(() => broker.connected);
  });
  afterAll(async () => {
    await subscription.stop();
    await broker.close();
    await connection.close();
    await removeTopology(env.AMQP_URL ?? '', namespace);
  });

  const run = async (...args: string[]) => adminCommand(env)('dead-letters', ...args);
  const waiting = async () => (await run('list')).dead_letters[queue.name] as number;

  test('can be listed, shown, replayed and discarded', async () => {
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

    disposition = 'ack';
    handled.length = 0;
    expect(await run('replay', '--queue', queue.name, '--most', '2')).toEqual({ replayed: 2 });
    await eventually(() => handled.length === 2, { what: 'two messages at their consumer' });
    expect(await waiting()).toBe(1);

    expect(await run('discard', '--queue', queue.name, '--most', '9')).toEqual({ discarded: 1 });
    expect(await waiting()).toBe(0);
    expect(handled).toHaveLength(2);
  });

  describe('of the broker of a command', () => {
    const target = `broker ${new URL(env.AMQP_URL ?? '').host.split(':')[0]}:${new URL(env.AMQP_URL ?? '').port || 5672}`;
    const list = async (more: Record<string, string | undefined>) => {
      const lines: string[] = [];
      const args = ['dead-letters', 'list', '--json'];
      const { output = '', error } = await runAdmin(args, more, (line) => lines.push(line));
      return { outcome: error ?? JSON.parse(output), lines };
    };
    const folder = temporaryFolder();

    test('have no default', async () => {
      expect(await list({ TOCSIN_DATA_DIR: folder.path })).toEqual({
        outcome:
          `no broker is named, and no instance runs on ${folder.path}: start one (make services), ` +
          'name its data folder (TOCSIN_DATA_DIR), or set AMQP_URL as the services have it',
        lines: [],
      });
    });

    test('are those that a setting names, printed without the password', async () => {
      const { outcome, lines } = await list(env);
      expect(outcome.dead_letters).toHaveProperty([queue.name]);
      expect(lines).toEqual([`using ${target}, names that begin with ${namespace}, named by AMQP_URL`]);
    });

    test('are those of the running instance', async () => {
      await withInstance(folder.path, { AMQP_URL: env.AMQP_URL ?? '', TOCSIN_NAMESPACE: namespace }, async () => {
        const { outcome, lines } = await list({ TOCSIN_DATA_DIR: folder.path });
        expect(outcome.dead_letters).toHaveProperty([queue.name]);
        expect(lines).toEqual([
          `using ${target}, names that begin with ${namespace}, of the instance at http://localhost:8080`,
        ]);
      });
    });

    test('are those of a setting rather than of the running instance, and the output says so', async () => {
      const own = { AMQP_URL: 'amqp://tocsin:hidden@127.0.0.1:9', TOCSIN_NAMESPACE: 'other' };
      await withInstance(folder.path, own, async () => {
        const { outcome, lines } = await list({ ...env, TOCSIN_DATA_DIR: folder.path });
        expect(outcome.dead_letters).toHaveProperty([queue.name]);
        expect(lines).toEqual([
          `using ${target}, names that begin with ${namespace}, named by AMQP_URL; not the settings of the running ` +
            'instance at http://localhost:8080 (broker 127.0.0.1:9, names that begin with other)',
        ]);
      });
    });

    test('are not found when the instance does not name its broker', async () => {
      await withInstance(folder.path, { DATABASE_URL: 'postgres://127.0.0.1/x' }, async () => {
        const { outcome } = await list({ TOCSIN_DATA_DIR: folder.path });
        expect(outcome).toBe(
          'the instance at http://localhost:8080 does not name its broker: restart it, or set AMQP_URL as the services have it',
        );
      });
    });
  });

  test('stay when their original queue is missing', async () => {
    disposition = 'dead-letter';
    expect(await broker.publish([{ id: randomUUID(), type: 'incident.created', body: 'precious' }])).toEqual([
      'confirmed',
    ]);
    await eventually(async () => (await waiting()) === 1, { what: 'a dead letter' });
    await subscription.stop();
    const channel = await connection.createChannel();
    await channel.deleteQueue(queueName(namespace, queue));
    await expect(run('replay', '--queue', queue.name)).rejects.toThrow('does not exist');
    expect(await waiting()).toBe(1);
    await run('discard', '--queue', queue.name, '--most', '1');
    await channel.close();
  });

  test.each([
    [['show'], "required option '--queue <QUEUE>' not specified"],
    [['show', '--queue', 'x'], '--queue: x is not one of'],
    [['replay', '--queue', queue.name, '--most', '0'], '--most: must be an integer of at least 1'],
    [['discard', '--queue', queue.name], "required option '--most <N>' not specified"],
    [['dance'], "unknown command 'dance'"],
    [[], 'name a command: --help lists them'],
    [['list', '--loud'], '--loud'],
  ])('rejects %j with a message', async (args, reason) => {
    await expect(run(...args)).rejects.toThrow(reason);
  });

  test('are printed as a table', async () => {
    const { output } = await runAdmin(['dead-letters', 'list'], env);
    expect(output).toMatch(/^QUEUE +COUNT\n/);
    expect(output).toMatch(new RegExp(`^${queue.name} +\\d+$`, 'm'));
  });
});

describeWithOwnRabbitMq('dead letters on a broker that limits deliveries', () => {
  const rabbitMq = running(startRabbitMq);
  beforeAll(async () => {
    // The default of RabbitMQ 4, also for existing queues.
    await rabbitMq.control('set_policy', 'limited', '.*', '{"delivery-limit":20}', '--apply-to', 'queues');
  });

  test('survive any number of reads', async () => {
    const env = { AMQP_URL: rabbitMq.url, TOCSIN_NAMESPACE: 'tocsin', TOCSIN_DATA_DIR: '/nowhere' };
    const run = async (...args: string[]) => adminCommand(env)('dead-letters', ...args);
    const broker = new AmqpBroker({
      url: rabbitMq.url,
      namespace: 'tocsin',
      log: createLogger({ app: 'test', level: 'silent' }),
    });
    let disposition: Disposition = 'dead-letter';
    const handled: string[] = [];
    const subscription = broker.subscribe(queue, async ({ body }) => {
      handled.push(body.toString());
      return disposition;
    });
    await eventually(() => broker.connected);
    const messages = ['one', 'two'].map((body) => ({ id: randomUUID(), type: 'incident.created', body }));
    await broker.publish(messages);
    await eventually(async () => (await run('list')).dead_letters[queue.name] === 2);
    const byId = (letters: { id: string }[]) => letters.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const first = byId((await run('show', '--queue', queue.name)).dead_letters);
    for (const _ of Array.from({ length: 30 })) {
      const { dead_letters: letters } = await run('show', '--queue', queue.name);
      expect(byId(letters)).toEqual(first);
    }
    expect(first.map(({ id }) => id)).toEqual(messages.map(({ id }) => id).toSorted());
    expect(first[0]).toMatchObject({ reason: 'rejected', died_at: expect.stringMatching(/^\d{4}-/) });
    disposition = 'ack';
    handled.length = 0;
    expect(await run('replay', '--queue', queue.name)).toEqual({ replayed: 2 });
    await eventually(() => handled.length === 2);
    expect(handled.toSorted()).toEqual(['one', 'two']);
    await subscription.stop();
    await broker.close();
  });
});
