import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { exchangeName } from '@tocsin/contracts';
import { eventually, type Receiver, testServers } from '@tocsin/testing';
import amqplib from 'amqplib';
import { quantile } from '../../quantile.ts';
import { cpuTimes, usedCpu } from './cpu.ts';
import { type BenchSystem, clientOf } from './system.ts';
import type { Bench } from './run-case.ts';

/** How fast events leave the outbox, are consumed, and reach receivers. */
export interface TailResult {
  /**
   * Events a second from the outbox through the broker to the feed, none of which a subscription wants. The relay publishes
   * no faster than the webhook service consumes (ADR 48), so they are measured together.
   */
  recorded: number;
  /** Microseconds of RabbitMQ's CPU for one of them, and for one message of their size between two bare channels. */
  broker: { tocsin: number; bare: number };
  /** Milliseconds from the response of a create to the request at the receiver. */
  delivery: { count: number; p50: number; p99: number };
}

const EVENTS = 20_000;
/** As many messages as the relay publishes and the webhook service consumes at once. */
const PUBLISHED_AT_ONCE = 500;
const CONSUMED_AT_ONCE = 128;

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
  const tocsin = await brokerCpu(system, async () => system.drained());
  const recorded = EVENTS / ((performance.now() - start) / 1_000);
  const bare = await brokerCpu(system, async () => passMessages(Buffer.from(JSON.stringify(body))));
  return { recorded, broker: { tocsin, bare }, delivery };
}

/** Microseconds of CPU that RabbitMQ takes for an event. */
async function brokerCpu(system: BenchSystem, work: () => Promise<void>): Promise<number> {
  const group = 'RabbitMQ';
  const groups = new Map([[group, (await system.groups()).get(group) ?? []]]);
  const processes = [...groups.values()].flat();
  const before = await cpuTimes(processes);
  await work();
  return (usedCpu(groups, before, await cpuTimes(processes)).get(group) ?? 0) / EVENTS;
}

/** Publishes and consumes as many messages as cheaply as a durable quorum queue allows. */
async function passMessages(body: Buffer): Promise<void> {
  const connection = await amqplib.connect(testServers().amqpUrl ?? '');
  try {
    const publisher = await connection.createConfirmChannel();
    const consumer = await connection.createChannel();
    const queue = `tocsin-bench-${randomUUID()}`;
    await publisher.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
    await consumer.prefetch(2 * CONSUMED_AT_ONCE);
    const consumed = Promise.withResolvers<undefined>();
    let count = 0;
    await consumer.consume(queue, (message) => {
      count += 1;
      if (message !== null && (count % CONSUMED_AT_ONCE === 0 || count === EVENTS)) consumer.ack(message, true);
      if (count === EVENTS) consumed.resolve(undefined);
    });
    for (let sent = 0; sent < EVENTS; sent += 1) {
      publisher.sendToQueue(queue, body, { persistent: true });
      if ((sent + 1) % PUBLISHED_AT_ONCE === 0) await publisher.waitForConfirms();
    }
    await consumed.promise;
    await publisher.deleteQueue(queue);
  } finally {
    await connection.close();
  }
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
  return { count: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
