import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import {
  behave,
  type Client,
  createCertificate,
  eventually,
  httpClient,
  type Receiver,
  startRabbitMq,
  startReceiver,
} from '@tocsin/testing';
import { describeWithServersAndOwnRabbitMq } from '@tocsin/testing/suites';
import { processesWith } from '../verification/systems/commands.ts';
import { BUSY_MACHINE, localHarness } from '../verification/systems/local-harness.ts';
import { running, runningCommand, runningPostgres } from './running.ts';

/** Below the limit of ten requests per minute to one address, with room for repetitions. */
const BURST = 7;
/** Each test has a receiver on its own address: the limits of one do not slow the next. */
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;
const ALL = { what: 'every event at its receiver' };

describeWithServersAndOwnRabbitMq('no event is lost', () => {
  const receivers: Receiver[] = [];
  const harness = running(localHarness);
  const broker = running(startRabbitMq);
  const postgres = runningPostgres(harness);
  const services = runningCommand(async () => {
    const { folder } = harness;
    const certificate = await createCertificate(ADDRESSES);
    await writeFile(path.join(folder, 'ca.pem'), certificate.cert);
    for (const host of ADDRESSES) receivers.push(await startReceiver({ host, certificate }));
    return harness.start({
      ...BUSY_MACHINE,
      DATABASE_URL: postgres.url.replace(/\/postgres$/, '/tocsin'),
      AMQP_URL: broker.url,
      NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.pem'),
      WEBHOOK_TEST_RECEIVERS: ADDRESSES.map((host, index) => `${host}:${receivers[index]!.port}`).join(','),
    });
  });
  afterAll(async () => Promise.all(receivers.map(async (receiver) => receiver.stop())));

  /** Creates a workspace with an active subscription to one of the receivers. */
  async function subscribe(slug: string, index: number): Promise<{ client: Client; receiver: Receiver }> {
    const receiver = receivers[index]!;
    const token = await harness.workspace(slug);
    const client = httpClient(await services.ready(), { Host: `${slug}.localhost`, Authorization: `Bearer ${token}` });
    const { body } = await client.post('/api/v1/settings/webhooks', { url: receiver.url('/hook', ADDRESSES[index]) });
    const verified = await client.post(`/api/v1/settings/webhooks/${body.webhook.id}/verify`);
    expect(verified.body).toMatchObject({ webhook: { status: 'active' } });
    receiver.requests.length = 0;
    return { client, receiver };
  }

  /** Creates one incident, with retries: the idempotency key prevents duplicates. */
  const declare = async (client: Client, count: number): Promise<string> =>
    eventually(
      async () => {
        const answer = await client.post(
          '/api/v1/incidents',
          { title: `Burst ${count}` },
          { 'Idempotency-Key': `burst-${count}` },
        );
        return answer.status === 201 ? String(answer.body.incident.human_id) : undefined;
      },
      { what: 'an incident' },
    );

  const referencesAt = (receiver: Receiver) =>
    receiver.requests.map(({ body }) => String(JSON.parse(body).resource.reference));

  /** Every event arrived; repeated deliveries have the same event ID. */
  async function expectAll(receiver: Receiver, declared: readonly string[]): Promise<void> {
    await eventually(() => new Set(referencesAt(receiver)).size === declared.length, ALL);
    expect([...new Set(referencesAt(receiver))].sort()).toEqual([...declared].sort());
    const ids = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(declared.length);
  }

  test('when the broker is killed in the middle of a burst', async () => {
    const { client, receiver } = await subscribe('brokers', 0);
    const declared: string[] = [];
    for (let count = 0; count < BURST; count += 1) {
      if (count === 3) await broker.kill();
      declared.push(await declare(client, count));
    }
    await broker.start();
    await expectAll(receiver, declared);
  });

  test('when the webhook service is killed while it sends', async () => {
    const { client, receiver } = await subscribe('senders', 1);
    receiver.respond = behave.hang;
    const declared: string[] = [];
    for (let count = 0; count < BURST; count += 1) declared.push(await declare(client, count));
    await eventually(() => receiver.requests.length > 0, { what: 'a request under way' });
    for (const [pid, { parent }] of await processesWith('services/webhook/src/main.ts')) {
      if (parent === services.pid) process.kill(pid, 'SIGKILL');
    }
    receiver.respond = () => behave.answer(204);
    // Its deliveries are due again when their leases have expired.
    await expectAll(receiver, declared);
  });

  test('when Postgres is killed in the middle of a burst', async () => {
    const { client, receiver } = await subscribe('databases', 2);
    const declared: string[] = [];
    for (let count = 0; count < BURST; count += 1) {
      if (count === 3) process.kill(await postmaster(), 'SIGKILL');
      declared.push(await declare(client, count));
    }
    expect(new Set(declared).size).toBe(BURST);
    await expectAll(receiver, declared);
  });

  /** The process ID of the running server. */
  const postmaster = async (): Promise<number> =>
    Number((await readFile(path.join(harness.folder, 'database', 'postmaster.pid'), 'utf8')).split('\n')[0]);
});
