import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { createLogger, createMetrics } from '@tocsin/runtime';
import { behave, startReceiver, TEST_SECRET_KEYS } from '@tocsin/testing';
import { type Loss, losing } from '@tocsin/testing/faulty-trips';
import { losableDatabase } from '@tocsin/testing/losable-database';
import { stopAfterAll } from '@tocsin/testing/suites';
import { attemptDelivery } from '../src/deliveries/attempt-delivery.ts';
import { deliveryClaims } from '../src/deliveries/claim-deliveries.ts';
import { webhookMetrics } from '../src/queue/metrics.ts';
import { hostBreakers } from '../src/requests/clients/breakers.ts';
import { sender } from '../src/requests/clients/sender.ts';
import { CONTRACT_LIMITS } from '../src/requests/domain/limits.ts';
import { clockTime } from '../src/shared/store/time.ts';
import { incidentClient } from '../src/subscriptions/clients/incidents.ts';
import { secretCipher } from '../src/subscriptions/secret-cipher.ts';
import { activeSubscription, deliveries, serviceForFile } from './service.ts';

const receiver = stopAfterAll(await startReceiver());
const service = await serviceForFile({ receivers: [receiver] });
const { id: subscriptionId } = await activeSubscription(service, receiver.url());
// Only the test sends deliveries.
await service.app.stop();

const database = losableDatabase('webhook', service.database.url('webhook'));
const incidents = incidentClient({ urls: [service.incidents.url], secretKeys: TEST_SECRET_KEYS });
stopAfterAll({ stop: async () => incidents.close() });

const time = clockTime(service.clock);
const breakers = hostBreakers(() => undefined);
const dependencies = {
  database,
  time,
  secretCipher: secretCipher(TEST_SECRET_KEYS),
  sender: sender({
    egress: { allowed: { testReceivers: new Set([receiver.hostAndPort()]), networks: [] }, proxy: undefined },
    ca: receiver.ca,
  }),
  incidents,
  metrics: webhookMetrics({ registry: createMetrics('webhook'), database, time, openBreakers: () => 0 }),
  log: createLogger({ app: 'webhook', level: 'silent' }),
  requestLimits: CONTRACT_LIMITS,
};

const claims = deliveryClaims(dependencies);

/** What the dispatcher does when a delivery is due. */
async function round(): Promise<void> {
  for (const claim of await claims(breakers.blockedHosts())) await attemptDelivery(dependencies, breakers, claim);
}

/** Queues a delivery, and runs rounds until it has ended. Loses one of their trips. */
async function deliver(statuses: readonly number[], { loss, trip }: { loss: Loss; trip: number }) {
  for (const table of ['events', 'slots', 'windows', 'host_addresses']) await service.knex(table).delete();
  const eventId = randomUUID();
  await service.knex.raw(
    `with event as (
       insert into events (id, workspace_id, body, occurred_at, queued_at) select :eventId, 1, '{}', :now, :now returning id)
     insert into deliveries (event_id, subscription_id, workspace_id, status, due_at, deadline_at)
     select id, :subscriptionId, 1, 'queued', :now, :now::timestamptz + interval '1 day' from event`,
    { eventId, subscriptionId, now: service.clock.now() },
  );
  const answers = [...statuses];
  receiver.requests.length = 0;
  receiver.respond = () => behave.answer(answers.shift() ?? 204);
  const { lost, trips } = await losing({ loss, trip, of: 'work' }, async () => {
    for (let rounds = 0; rounds < ROUNDS; rounds += 1) {
      await round().catch(() => undefined);
      if ((await deliveries(service))[0]?.status === 'succeeded') return;
      service.clock.advance(5_000);
    }
  });
  return { eventId, lost, sent: trips.filter(({ what }) => what === REQUEST).length };
}

const REQUEST = 'POST /hook';
/** More than the lease of a delivery takes, and each wait before another attempt. */
const ROUNDS = 10;

beforeEach(() => service.clock.toNextMinute());

test.each([[[]], [[503]]])(
  'a delivery with a lost round trip is made, and attempts are the requests: after %j',
  async (statuses) => {
    const met = { requestLost: 0, outcomeLost: 0, internal: 0 };
    for (const loss of ['before', 'after'] as const) {
      for (let trip = 1; ; trip += 1) {
        const { eventId, sent, lost } = await deliver(statuses, { loss, trip });
        if (lost === undefined) break;
        const [delivery] = await deliveries(service);
        const where = { loss, trip, what: lost.what };
        expect({ ...where, ...delivery }).toMatchObject({
          ...where,
          status: 'succeeded',
          attempts: sent,
          lease_token: null,
          last_error: null,
        });
        const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
        expect({ ...where, ids: new Set(ids) }).toEqual({ ...where, ids: new Set([eventId]) });
        const slots = await service.knex('slots').where('lease_until', '>', service.clock.now()).select('token');
        expect({ ...where, slots }).toEqual({ ...where, slots: [] });
        if (lost.what === REQUEST) met.requestLost += 1;
        else if (sent > statuses.length + 1) met.outcomeLost += 1;
        else met.internal += 1;
      }
    }
    expect(Object.values(met)).not.toContain(0);
  },
);
