import {
  deadLetterQueueName,
  exchangeName,
  type QueueDefinition,
  QUEUES,
  queueName,
  requeueExchangeName,
} from '@tocsin/schemas';
import { declareTopology } from '@tocsin/messaging/amqp';
import { brokerSettings, type Environment, Hosts, processSettings, readConfig, urlsOfHosts } from '@tocsin/runtime';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { MEMORY_BROKER } from '../../installation/apps.ts';
import { type Check, count, type Finding, note, ok, problem, unknown } from './check.ts';

/** Messages in a queue from which its consumers are too slow, or stand still. */
const MAX_DEPTH = 1_000;

const CONNECT_TIMEOUT = 5_000;
const NOT_FOUND = 404;

/**
 * Looks for queues that are missing, that nobody consumes, or in which messages pile up. AMQP cannot list bindings: a
 * repair binds all queues again, which changes nothing where they are bound.
 */
export const BROKER_CHECK: Check = {
  name: 'broker',
  run: async ({ env }) => {
    if (env['TOCSIN_BROKER'] === MEMORY_BROKER) return [note('make start uses no broker')];
    const broker = brokerOf(env);
    if (broker === undefined) return [unknown('the broker is not checked: set AMQP_URL as the services have it')];
    const { url, namespace } = broker;
    return withConnection(url, async (connection) => {
      const declare = async () => {
        await withConnection(url, async (other) => {
          const channel = await openChannel(other);
          await declareTopology(channel, namespace);
          await channel.close();
        });
        return `declared the exchange, the queues and their bindings of ${namespace} again`;
      };
      const findings: Finding[] = [];
      for (const exchange of [exchangeName(namespace), requeueExchangeName(namespace)]) {
        if (!(await exists(connection, async (channel) => channel.checkExchange(exchange)))) {
          findings.push(problem(`the exchange ${exchange} is missing`, declare));
        }
      }
      for (const queue of Object.values(QUEUES)) {
        findings.push(...(await checkQueue(connection, { namespace, queue, declare })));
      }
      const names = Object.values(QUEUES).map((queue) => queueName(namespace, queue));
      return findings.length === 0 ? [ok(`${count(names.length, 'queue')} with consumers, none is long`)] : findings;
    });
  },
};

/** The broker that the settings name, if any: a running instance may have one in its own memory. */
export function brokerOf(env: Environment): { url: string; namespace: string } | undefined {
  if (env['TOCSIN_BROKER'] === MEMORY_BROKER || (env['AMQP_URL'] ?? '') === '') return undefined;
  const { AMQP_URL: url, TOCSIN_NAMESPACE: namespace } = readConfig(
    { AMQP_URL: brokerSettings.AMQP_URL, TOCSIN_NAMESPACE: processSettings.TOCSIN_NAMESPACE },
    env,
  );
  return { url, namespace };
}

/** How many messages wait in a queue; undefined if there is no such queue. */
export const queueLength = async (
  { url, namespace }: { url: string; namespace: string },
  queue: QueueDefinition,
): Promise<number | undefined> =>
  withConnection(url, async (connection) => {
    const state = await exists(connection, async (channel) => channel.checkQueue(queueName(namespace, queue)));
    return state?.messageCount;
  });

async function checkQueue(
  connection: ChannelModel,
  { namespace, queue, declare }: { namespace: string; queue: QueueDefinition; declare: () => Promise<string> },
): Promise<Finding[]> {
  const name = queueName(namespace, queue);
  const dead = deadLetterQueueName(namespace, queue);
  const findings: Finding[] = [];
  const state = await exists(connection, async (channel) => channel.checkQueue(name));
  if (state === undefined) {
    findings.push(problem(`the queue ${name} is missing: events for it wait or are lost`, declare));
  } else {
    if (state.consumerCount === 0) findings.push(problem(`nobody consumes the queue ${name}: does its service run?`));
    if (state.messageCount > MAX_DEPTH) {
      findings.push(
        problem(`${count(state.messageCount, 'message')} in the queue ${name}: look at the log of its service`),
      );
    }
  }
  const letters = await exists(connection, async (channel) => channel.checkQueue(dead));
  if (letters === undefined) findings.push(problem(`the queue ${dead} is missing`, declare));
  else if (letters.messageCount > 0) {
    findings.push(
      problem(`${count(letters.messageCount, 'dead letter')} of ${queue.name}: look at them with dead-letters show`),
    );
  }
  return findings;
}

async function withConnection<Result>(
  url: string,
  work: (connection: ChannelModel) => Promise<Result>,
): Promise<Result> {
  const nodes = new Hosts(urlsOfHosts(url));
  const connection = await nodes.connect(async (node) => connect(node, { timeout: CONNECT_TIMEOUT }));
  // Pending calls fail when the connection is lost; without a listener it would also be an uncaught exception.
  connection.on('error', () => undefined);
  try {
    return await work(connection);
  } finally {
    await connection.close().catch(() => undefined);
  }
}

async function openChannel(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  return channel;
}

/** Runs a passive declaration on a channel of its own, which the broker closes if there is no such thing. */
async function exists<Result>(
  connection: ChannelModel,
  check: (channel: Channel) => Promise<Result>,
): Promise<Result | undefined> {
  const channel = await openChannel(connection);
  try {
    return await check(channel);
  } catch (error) {
    if ((error as { code?: number }).code === NOT_FOUND) return undefined;
    throw error;
  } finally {
    await channel.close().catch(() => undefined);
  }
}
