import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventually, type OwnRabbitMq } from '@tocsin/testing';
import { type ChannelModel, connect } from 'amqplib';
import type { ConsumerError, ConsumerState, EventConsumer, MessageOutcome } from '../src/index.ts';

const FOLDER = path.join(import.meta.dirname, '../../../docs/events/examples');

/** An event about an incident, as Tocsin publishes it. */
export function incidentEvent(number: number, { revision = 1, type = 'incident.updated' } = {}) {
  const event = JSON.parse(readFileSync(path.join(FOLDER, `${type}.json`), 'utf8'));
  event.id = randomUUID();
  Object.assign(event.data.incident, { id: number, reference: `INC-${number}`, revision });
  return event as { id: string; type: string; data: { incident: { id: number; revision: number } } };
}

/** The limited user of the guide. */
const CONSUMER = { user: 'billing', password: 'for-this-test' };

/** Creates the exchange as Tocsin does, and a user with the permissions that the guide names. */
export async function prepareBroker(broker: OwnRabbitMq): Promise<string> {
  await withChannel(broker.url, async (channel) => channel.assertExchange('tocsin.events', 'topic', { durable: true }));
  await broker.control('add_user', CONSUMER.user, CONSUMER.password);
  const queueNames = '^billing\\.';
  await broker.control('set_permissions', CONSUMER.user, queueNames, queueNames, `${queueNames}|^tocsin\\.events$`);
  const url = new URL(broker.url);
  url.username = CONSUMER.user;
  url.password = CONSUMER.password;
  return url.href;
}

type Message = { type?: string; id?: string };
type Channel = Awaited<ReturnType<ChannelModel['createConfirmChannel']>>;

export async function withChannel<Result>(url: string, work: (channel: Channel) => Promise<Result>): Promise<Result> {
  const connection = await connect(url, { timeout: 5_000 });
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    return await work(channel);
  } finally {
    await connection.close().catch(() => undefined);
  }
}

/** Publishes, and resolves when the broker has stored all of them. */
export async function publish(url: string, messages: readonly (object | string)[], key?: string): Promise<void> {
  await withChannel(url, async (channel) => {
    for (const message of messages) {
      const text = typeof message === 'string' ? message : JSON.stringify(message);
      const { type = 'incident.updated', id = '' } = (typeof message === 'string' ? {} : message) as Message;
      channel.publish('tocsin.events', key ?? type, Buffer.from(text), { persistent: true, messageId: id, type });
    }
    await channel.waitForConfirms();
  });
}

/** The messages of a queue that no consumer has. */
export async function countReady(url: string, queue: string): Promise<number> {
  return withChannel(url, async (channel) => (await channel.checkQueue(queue)).messageCount);
}

/** What a consumer reports. */
export function recorder() {
  const errors: ConsumerError[] = [];
  const states: ConsumerState[] = [];
  const outcomes: MessageOutcome[] = [];
  return {
    errors,
    states,
    outcomes,
    callbacks: {
      onError: (error: ConsumerError) => void errors.push(error),
      onState: (state: ConsumerState) => void states.push(state),
      onMessage: (outcome: MessageOutcome) => void outcomes.push(outcome),
    },
  };
}

export const consuming = async (consumer: EventConsumer) =>
  eventually(() => consumer.state === 'consuming', { what: 'a consumer that consumes' });
