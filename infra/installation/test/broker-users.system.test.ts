import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  EVENT_TYPES,
  EVENTS,
  type EventType,
  exchangeName,
  QUEUES,
  queueName,
  requeueExchangeName,
} from '@tocsin/schemas';
import { AmqpBroker } from '@tocsin/messaging/amqp';
import { createLogger } from '@tocsin/runtime';
import { eventually, startRabbitMq } from '@tocsin/testing';
import { closedAfterEach, describeWithServersAndOwnRabbitMq } from '@tocsin/testing/suites';
import { type ConfirmChannel, connect } from 'amqplib';
import { APP_NAMES, type AppName } from '../apps.ts';
import { brokerUser } from '../broker-definitions.ts';
import { writeSecrets } from '../../compose/write-secrets.ts';
import { ROOT } from '../environment.ts';
import { causeEveryEvent } from '../../verification/systems/every-event.ts';
import { guideCommands } from '../../verification/test/guides/guide-commands.ts';
import { running, runningSystem, temporaryFolder } from '../../verification/systems/running.ts';

const ACCESS_REFUSED = 403;
const NAMESPACE = 'tocsin';
const EXCHANGE = exchangeName(NAMESPACE);

const publishers = (type: EventType): readonly AppName[] => EVENTS[type].publishers;

const silent = createLogger({ app: 'test', level: 'silent' });

describeWithServersAndOwnRabbitMq('a broker with the definitions of Compose', () => {
  const folder = temporaryFolder();
  const broker = running(startRabbitMq);
  const opened = closedAfterEach();
  const inFolder = (...names: string[]) => path.join(folder.path, ...names);
  /** The URL of an app, as the job of Compose writes it, at the test's own broker. */
  const urls = new Map<AppName, string>();
  const urlOf = (app: AppName) => urls.get(app) ?? '';
  const atBroker = (url: string) => Object.assign(new URL(broker.url), credentialsOf(url)).href;

  beforeAll(async () => {
    await writeSecrets(folder.path, { NODE_ENV: 'production' });
    await broker.control('import_definitions', inFolder('rabbitmq/definitions.json'));
    for (const app of APP_NAMES) urls.set(app, atBroker((await readFile(inFolder(app, 'AMQP_URL'), 'utf8')).trim()));
    for (const command of await guideCommands()) await broker.control(...command);
  });

  /** Connects as a user. The function that it returns runs `work` on a channel, and returns whether the broker allowed it. */
  const openUser = async (url: string) => {
    const connection = opened(await connect(url));
    return async (work: (channel: ConfirmChannel) => unknown): Promise<boolean> => {
      const channel = await connection.createConfirmChannel();
      const refused = new Promise<never>((_resolve, reject) => channel.once('error', reject));
      const doing = async () => {
        await work(channel);
        await channel.waitForConfirms();
        await channel.close();
      };
      try {
        await Promise.race([refused, doing()]);
        return true;
      } catch (error) {
        if ((error as { code?: number }).code !== ACCESS_REFUSED) throw error;
        return false;
      }
    };
  };
  const publish = (exchange: string, routingKey: string) => (channel: ConfirmChannel) =>
    channel.publish(exchange, routingKey, Buffer.from('{}'));

  const consume = async (channel: ConfirmChannel, queue: string) => channel.consume(queue, () => undefined);

  test.each(APP_NAMES)('lets %s publish its own events and no others', async (app) => {
    const may = await openUser(urlOf(app));
    const allowed = [];
    for (const type of EVENT_TYPES) if (await may(publish(EXCHANGE, type))) allowed.push(type);
    expect(allowed).toEqual(EVENT_TYPES.filter((type) => publishers(type).includes(app)));
    expect(await may(publish(EXCHANGE, 'user.changed.x'))).toBe(false);
  });

  test.each(APP_NAMES)('lets %s read its own queues and no others, and change none', async (app) => {
    const may = await openUser(urlOf(app));
    for (const queue of Object.values(QUEUES)) {
      const name = queueName(NAMESPACE, queue);
      const isOwn = queue.name.startsWith(`${app}.`);
      expect([name, await may(async (channel) => consume(channel, name))]).toEqual([name, isOwn]);
      expect(await may(publish(requeueExchangeName(NAMESPACE), queue.name))).toBe(isOwn);
      // The default exchange leads to every queue.
      expect(await may(publish('', name))).toBe(false);
      expect(await may(async (channel) => channel.bindQueue(name, EXCHANGE, '#'))).toBe(false);
      expect(await may(async (channel) => channel.deleteQueue(name))).toBe(false);
    }
    expect(await may(async (channel) => channel.assertQueue('other'))).toBe(false);
  });

  test('lets the users of the guide do what it says and no more', async () => {
    const billing = await openUser(atBroker('amqp://billing:<password>@any'));
    const impact = await openUser(atBroker('amqp://impact:<password>@any'));
    const consumeOwn = async (channel: ConfirmChannel) => {
      await channel.assertQueue('billing.all', { durable: true });
      await channel.bindQueue('billing.all', EXCHANGE, '#');
      await consume(channel, 'billing.all');
    };
    expect(await billing(consumeOwn)).toBe(true);
    expect(await impact(consumeOwn)).toBe(false);
    for (const type of EVENT_TYPES) {
      expect([type, await billing(publish(EXCHANGE, type))]).toEqual([type, false]);
      expect([type, await impact(publish(EXCHANGE, type))]).toEqual([type, publishers(type).length === 0]);
    }
    for (const queue of Object.values(QUEUES)) {
      const name = queueName(NAMESPACE, queue);
      for (const may of [billing, impact]) {
        expect(await may(async (channel) => consume(channel, name))).toBe(false);
        expect(await may(publish('', name))).toBe(false);
        expect(await may(publish(requeueExchangeName(NAMESPACE), queue.name))).toBe(false);
      }
    }
  });

  test('returns a message to the queue of the app that returns it', async () => {
    const open = (app: AppName) => new AmqpBroker({ url: urlOf(app), namespace: NAMESPACE, log: silent });
    const [catalog, gateway] = [open('catalog'), open('gateway')];
    try {
      await eventually(() => catalog.connected && gateway.connected);
      const bodies: string[] = [];
      const returning = catalog.subscribe(QUEUES.catalogReplicas, async ({ body }) => {
        bodies.push(body.toString());
        return body.toString() === 'wanted' ? 'requeue' : 'ack';
      });
      await gateway.publish([{ id: crypto.randomUUID(), type: 'user.changed', body: 'wanted' }]);
      await eventually(() => bodies.includes('wanted'));
      await returning.stop({ waitForRequeue: true });
      const again: string[] = [];
      const taking = catalog.subscribe(QUEUES.catalogReplicas, async ({ body }) => {
        again.push(body.toString());
        return 'ack';
      });
      await eventually(() => again.includes('wanted'));
      await taking.stop();
    } finally {
      await Promise.all([catalog.close(), gateway.close()]);
    }
  });

  test('has the users and permissions of Kubernetes, too', async () => {
    const before = await broker.control('list_topic_permissions', '--formatter', 'json');
    await broker.control('import_definitions', path.join(ROOT, 'infra/kubernetes/examples/rabbitmq-definitions.json'));
    expect(await broker.control('list_topic_permissions', '--formatter', 'json')).toBe(before);
    for (const app of APP_NAMES) {
      expect(before).toContain(`"${brokerUser(NAMESPACE, app)}"`);
    }
  });

  describe('and all apps', () => {
    const system = runningSystem(() => ({ amqpUrl: urlOf, namespace: NAMESPACE }));

    test('do their work, and publish an event of every type', async () => {
      const connection = opened(await connect(atBroker('amqp://billing:<password>@any')));
      const types = new Set<string>();
      const channel = await connection.createChannel();
      await channel.assertQueue('billing.work', { durable: true });
      await channel.bindQueue('billing.work', EXCHANGE, '#');
      await channel.consume('billing.work', (message) => types.add(message?.fields.routingKey ?? ''), { noAck: true });
      const client = await system.as({ role: 'owner' });
      await causeEveryEvent(client);
      const expected = EVENT_TYPES.filter((type) => publishers(type).length > 0);
      await eventually(() => expected.every((type) => types.has(type)), { what: 'an event of every type' });
      // What was published is consumed, too.
      const feed = async () => (await client.get('/api/v1/events?from=beginning&limit=100')).body.events as object[];
      await eventually(async () =>
        (await feed()).some((event) => 'type' in event && event.type === 'incident.imported'),
      );
      await eventually(async () => (await client.get('/api/v1/settings/audit-log')).body.entries?.length > 0);
    });
  });
});

function credentialsOf(url: string): { username: string; password: string } {
  const { username, password } = new URL(url);
  return { username, password };
}
