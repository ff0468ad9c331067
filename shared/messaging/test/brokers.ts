import { randomBytes, randomUUID } from 'node:crypto';
import { createLogger } from '@tocsin/runtime';
import { eventually, removeTopology } from '@tocsin/testing';
import { AmqpBroker } from '../src/amqp.ts';
import {
  type Broker,
  type IncomingMessage,
  type OutgoingMessage,
  type PublishOutcome,
  type Disposition,
} from '../src/index.ts';

export const silent = createLogger({ app: 'test', level: 'silent' });

/** A broker with its own names, which `remove` deletes from a shared server. */
export interface OpenBroker<Kind extends Broker = Broker> {
  broker: Kind;
  remove(): Promise<void>;
}

/** Milliseconds between the deliveries of a failing message. */
export const QUICK_RETRIES = [10];

const newNamespace = () => `t${randomBytes(5).toString('hex')}`;

/** Connects a broker with queues of its own. `by` is the URL to connect to, for example of a proxy; default `url`. */
export async function openBroker(
  url: string,
  options: { by?: string; namespace?: string; confirmTimeout?: number } = {},
): Promise<OpenBroker<AmqpBroker> & { namespace: string }> {
  const { by = url, namespace = newNamespace(), ...brokerOptions } = options;
  const broker = new AmqpBroker({ url: by, namespace, log: silent, retryDelays: QUICK_RETRIES, ...brokerOptions });
  await eventually(() => broker.connected, { what: 'a connection to the broker' });
  return {
    broker,
    namespace,
    remove: async () => {
      await broker.close();
      await removeTopology(url, namespace);
    },
  };
}

export const newMessage = (type: string, body = '{}'): OutgoingMessage => ({ id: randomUUID(), type, body });

/** Publishes like the outbox: repeats until the outcome is known. */
export async function publishSafely(broker: Broker, message: OutgoingMessage): Promise<PublishOutcome> {
  return eventually(
    async () => {
      const [outcome] = await broker.publish([message]);
      return outcome !== 'failed' && outcome;
    },
    { what: 'an outcome' },
  );
}

export type Decide = (message: IncomingMessage, nth: number) => Disposition | Promise<Disposition>;

/** The messages that a consumer received, in order. */
export interface Inbox {
  bodies: string[];
  redelivered: boolean[];
  stop(): Promise<void>;
}

/** Subscribes, and handles every message as `decide` says. */
export function collect(
  broker: Broker,
  queue: Parameters<Broker['subscribe']>[0],
  decide: Decide = () => 'ack',
): Inbox {
  const inbox = { bodies: [] as string[], redelivered: [] as boolean[] };
  const subscription = broker.subscribe(queue, async (message) => {
    inbox.redelivered.push(message.redelivered);
    return decide(message, inbox.bodies.push(message.body.toString()));
  });
  return { ...inbox, stop: subscription.stop };
}
