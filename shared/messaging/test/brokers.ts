import { randomBytes, randomUUID } from 'node:crypto';
import { createLogger } from '@tocsin/runtime';
import { eventually, removeTopology } from '@tocsin/testing';
import {
  AmqpBroker,
  type Broker,
  type IncomingMessage,
  type OutgoingMessage,
  type PublishOutcome,
  type Verdict,
} from '../src/index.ts';

export const silent = createLogger({ app: 'test', level: 'silent' });

/** A broker that leaves nothing behind on a server that others use too. */
export interface OpenBroker<Kind extends Broker = Broker> {
  broker: Kind;
  remove(): Promise<void>;
}

/** For hooks that make and remove queues: on a busy machine a broker takes its time for these. Milliseconds. */
export const SET_UP_PATIENCE = 60_000;

const newNamespace = () => `t${randomBytes(5).toString('hex')}`;

/** Connected, with queues that no other test has. `by` is the way to the server, if that is not the straight one. */
export async function openBroker(
  url: string,
  { by = url, namespace = newNamespace() }: { by?: string; namespace?: string } = {},
): Promise<OpenBroker<AmqpBroker> & { namespace: string }> {
  const broker = new AmqpBroker({ url: by, namespace, log: silent });
  await eventually(() => broker.connected, { within: SET_UP_PATIENCE, what: 'a connection to the broker' });
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

/** Publishes the way the outbox does: again, until the broker has it. */
export async function publishSafely(
  broker: Broker,
  message: OutgoingMessage,
  within = 10_000,
): Promise<PublishOutcome> {
  return eventually(
    async () => {
      const [outcome] = await broker.publish([message]);
      return outcome !== 'failed' && outcome;
    },
    { within, what: 'an outcome' },
  );
}

export type Judge = (message: IncomingMessage, nth: number) => Verdict | Promise<Verdict>;

/** What a consumer got, in the order of its coming. */
export interface Inbox {
  bodies: string[];
  redelivered: boolean[];
  stop(): Promise<void>;
}

/** Subscribes, and answers every message as `judge` says. */
export function collect(broker: Broker, queue: Parameters<Broker['subscribe']>[0], judge: Judge = () => 'ack'): Inbox {
  const inbox = { bodies: [] as string[], redelivered: [] as boolean[] };
  const subscription = broker.subscribe(queue, async (message) => {
    inbox.redelivered.push(message.redelivered);
    return judge(message, inbox.bodies.push(message.body.toString()));
  });
  return { ...inbox, stop: subscription.stop };
}
