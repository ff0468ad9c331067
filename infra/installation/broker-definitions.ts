import { createHash } from 'node:crypto';
import {
  EVENT_TYPES,
  EVENTS,
  exchangeName,
  type EventType,
  HEALTH_TYPE,
  type QueueDefinition,
  QUEUES,
  queueName,
  requeueExchangeName,
} from '@tocsin/schemas';
import { brokerTopology } from '@tocsin/messaging/amqp';
import { APP_NAMES, type AppName } from './apps.ts';

const VHOST = '/';

export const brokerUser = (namespace: string, app: AppName) => `${namespace}-${app}`;

/** The types of events that an app publishes. */
const publishedBy = (app: AppName): EventType[] =>
  EVENT_TYPES.filter((type) => (EVENTS[type].publishers as readonly AppName[]).includes(app));

/** The queues that an app consumes. */
const queuesOf = (app: AppName): QueueDefinition[] =>
  Object.values<QueueDefinition>(QUEUES).filter(({ name }) => name.startsWith(`${app}.`));

/** A pattern of RabbitMQ that matches exactly these names. */
const exactly = (names: readonly string[]) =>
  names.length === 0 ? '^$' : `^(${names.map((name) => name.replaceAll('.', '\\.')).join('|')})$`;

/** What an app may do: read its queues, publish its events, ask whether that works, and return messages to its queues. It may declare nothing. */
function permissionsOf(app: AppName, namespace: string) {
  const queues = queuesOf(app);
  const exchanges = [
    { exchange: exchangeName(namespace), routingKeys: [HEALTH_TYPE, ...publishedBy(app)] as string[] },
    { exchange: requeueExchangeName(namespace), routingKeys: queues.map(({ name }) => name) },
  ].filter(({ routingKeys }) => routingKeys.length > 0);
  const who = { user: brokerUser(namespace, app), vhost: VHOST };
  return {
    permission: {
      ...who,
      configure: exactly([]),
      write: exactly(exchanges.map(({ exchange }) => exchange)),
      read: exactly(queues.map((queue) => queueName(namespace, queue))),
    },
    topicPermissions: exchanges.map(({ exchange, routingKeys }) => ({
      ...who,
      exchange,
      write: exactly(routingKeys),
      read: exactly([]),
    })),
  };
}

/**
 * What RabbitMQ imports: everything that the apps need on the broker, and what the user of each app may do there (ADR 75).
 * @param users of a broker that has no others; elsewhere the users of the apps must exist before the import
 */
export function brokerDefinitions(namespace: string, users?: ReturnType<typeof brokerUsers>) {
  const { exchanges, queues, bindings } = brokerTopology(namespace);
  const permissions = APP_NAMES.map((app) => permissionsOf(app, namespace));
  return {
    ...users,
    permissions: [...(users?.permissions ?? []), ...permissions.map(({ permission }) => permission)],
    topic_permissions: permissions.flatMap(({ topicPermissions }) => topicPermissions),
    exchanges: exchanges.map((name) => ({
      ...{ name, vhost: VHOST, type: 'topic', durable: true, auto_delete: false, internal: false, arguments: {} },
    })),
    queues: queues.map((queue) => ({ ...queue, vhost: VHOST, durable: true, auto_delete: false })),
    bindings: bindings.map(({ exchange, queue, routingKey }) => ({
      ...{ source: exchange, vhost: VHOST, destination: queue, destination_type: 'queue' },
      ...{ routing_key: routingKey, arguments: {} },
    })),
  };
}

/** @param passwords by the names of the users */
export function brokerUsers(
  administrator: { name: string; password: string },
  passwords: Readonly<Record<string, string>>,
) {
  const user = (name: string, password: string, tags: string[]) => ({
    name,
    password_hash: passwordHash(password),
    hashing_algorithm: 'rabbit_password_hashing_sha256',
    tags,
  });
  return {
    vhosts: [{ name: VHOST }],
    users: [
      user(administrator.name, administrator.password, ['administrator']),
      ...Object.entries(passwords).map(([name, password]) => user(name, password, [])),
    ],
    permissions: [{ user: administrator.name, vhost: VHOST, configure: '.*', write: '.*', read: '.*' }],
  };
}

/** As RabbitMQ stores it: a salt of four bytes, and the digest of salt and password. The same password gives the same. */
function passwordHash(password: string): string {
  const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  const secret = Buffer.from(password);
  const salt = sha256(Buffer.from('salt'), secret).subarray(0, 4);
  return Buffer.concat([salt, sha256(salt, secret)]).toString('base64');
}
