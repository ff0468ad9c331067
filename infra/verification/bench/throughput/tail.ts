import { setTimeout as delay } from 'node:timers/promises';
import { exchangeName } from '@tocsin/contracts';
import { eventually, type Receiver, testServers } from '@tocsin/testing';
import amqplib from 'amqplib';
import { quantile } from '../../quantile.ts';
import { clientOf } from './system.ts';
import type { Bench } from './run-case.ts';

/** How fast events leave the outbox, are consumed, and reach receivers. */
export interface TailResult {
  /**
   * Events a second from the outbox through the broker to the feed, none of which a subscription wants. The relay publishes
   * no faster than the webhook service consumes (ADR 48), so they are measured together.
   */
  recorded: number;
  /** Milliseconds from the response of a create to the request at the receiver. */
  delivery: { count: number; p50: number; p99: number };
}

const EVENTS = 20_000;

export async function measureTail(bench: Bench, namespace: string, receiver: Receiver): Promise<TailResult> {
  const delivery = await measureDelivery(bench, receiver);
  const body = await exampleEvent(bench, namespace);
  const { system } = bench;
  await system.drained();
  await system.sql.query(
    `insert into incident.outbox (message_id, type, body)
    select id, 'incident.created', replace($1, $2, id::text) from (
      select gen_random_uuid() as id from generate_series(1, ${EVENTS})) as generated`,
    [JSON.stringify(body), body.id],
  );
  const start = performance.now();
  await system.drained();
  return { recorded: EVENTS / ((performance.now() - start) / 1_000), delivery };
}

/** The event of a create in a workspace without subscriptions, as it was published. */
async function exampleEvent({ system, world }: Bench, namespace: string): Promise<{ id: string }> {
  const [workspace] = world.workspaces;
  if (workspace === undefined) throw new Error('there is no workspace');
  const broker = await amqplib.connect(testServers().amqpUrl ?? '');
  try {
    const channel = await broker.createChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, exchangeName(namespace), 'incident.created');
    await clientOf(system, workspace).post('/api/v1/incidents', { title: 'An example' });
    const message = await eventually(async () => channel.get(queue, { noAck: true }), { what: 'the event' });
    return JSON.parse(message.content.toString()) as { id: string };
  } finally {
    await broker.close();
  }
}

/** Deliveries to each address: fewer than its limit a minute. */
const DELIVERIES = 5;
const PAUSE = 50;

async function measureDelivery({ system, world }: Bench, receiver: Receiver): Promise<TailResult['delivery']> {
  const times: number[] = [];
  for (let round = 0; round < DELIVERIES; round += 1) {
    for (const workspace of world.withWebhooks) {
      const { text } = await clientOf(system, workspace).post('/api/v1/incidents', { title: 'Deliver me' });
      const answered = Date.now();
      const { id } = (JSON.parse(text) as { incident: { id: number } }).incident;
      const { at } = await eventually(() => receiver.requests.find((request) => request.body.includes(`"id":${id},`)), {
        what: 'a delivery',
      });
      times.push(Math.max(0, at - answered));
      await delay(PAUSE);
    }
  }
  times.sort((a, b) => a - b);
  return { count: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
