import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, eventually, type Receiver, startReceiver } from '@tocsin/testing';
import { Webhook } from 'standardwebhooks';
import {
  activeSubscription,
  deliveries,
  incidentCreated,
  publish,
  settled,
  startService,
  type TestService,
} from './service.ts';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({
    receivers: [receiver],
    settings: { WEBHOOK_RESOURCE_URL: 'https://{workspace}.example.com/incidents/{reference}' },
  });
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});
beforeEach(() => {
  receiver.respond = () => behave.answer(204);
  receiver.requests.length = 0;
});
afterEach(async () => {
  receiver.hangUp();
  await service.reset();
});

const received = async (count: number) =>
  eventually(() => receiver.requests.length >= count && receiver.requests, { what: `${count} requests` });

/** All that is due has been sent. */
const idle = async () =>
  eventually(async () => (await deliveries(service)).every(({ status }) => status !== 'queued'), {
    what: 'an empty queue',
  });

describe('a new incident', () => {
  test('reaches the receiver as a signed envelope', async () => {
    const { secret } = await activeSubscription(service, receiver.url('/in?key=1'));
    service.clock.advance(1_000);
    const message = incidentCreated(service, { id: 17 });
    await publish(service, { id: 17, messageId: message.id });
    const [request] = await received(1);
    const { headers, body, method, path } = request!;
    expect({ method, path, type: headers['content-type'] }).toEqual({
      method: 'POST',
      path: '/in?key=1',
      type: 'application/json',
    });

    const seconds = String(Math.floor(Date.parse(service.clock.now()) / 1_000));
    const mac = createHmac('sha256', secret).update(`${message.id}.${seconds}.${body}`).digest('base64');
    expect(headers).toMatchObject({
      'webhook-id': message.id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${mac}`,
    });
    expect(new Webhook(secret, { format: 'raw' }).verify(body, headers as Record<string, string>)).toEqual({
      id: message.id,
      type: 'incident.created',
      schema_version: 1,
      occurred_at: message.occurred_at,
      resource: {
        type: 'incident',
        id: 17,
        reference: 'INC-17',
        revision: 1,
        url: 'https://acme.example.com/incidents/INC-17',
      },
      data: {
        incident: {
          id: 17,
          reference: 'INC-17',
          created_at: message.occurred_at,
          title: 'Checkout is down',
          service: 'checkout',
          regions: ['eu'],
          severity: 'sev1',
          status: 'open',
          issue_type: 'incident',
          impact_summary: 'Nobody can pay',
        },
      },
    });
    await settled(service, ({ status }) => status === 'succeeded');
    const { body: list } = await service.as().get('/api/v1/settings/webhooks');
    expect(list.webhooks).toMatchObject([{ last_success_at: service.clock.now(), last_failure_at: null }]);
  });

  test('reaches every active subscription of its workspace, and no other', async () => {
    await activeSubscription(service, receiver.url('/one'));
    await activeSubscription(service, receiver.url('/two'));
    await activeSubscription(service, receiver.url('/stranger'), { workspace: { id: 2 } });
    await publish(service, {});
    await received(2);
    await idle();
    expect(receiver.requests.map(({ path }) => path).sort()).toEqual(['/one', '/two']);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
  });

  test('that is delivered twice by the broker is sent once', async () => {
    await activeSubscription(service, receiver.url());
    const message = incidentCreated(service);
    const twice = { id: 17, messageId: message.id };
    await publish(service, twice, twice);
    await publish(service, twice);
    await received(1);
    await idle();
    expect(receiver.requests).toHaveLength(1);
    expect(await deliveries(service)).toHaveLength(1);
  });

  test('is told to nobody by a demo workspace', async () => {
    await activeSubscription(service, receiver.url());
    await publish(service, { workspace: { is_demo: true } });
    expect(await deliveries(service)).toEqual([]);
  });
});

describe('what counts is when the incident was created', () => {
  test('a later subscription gets nothing earlier', async () => {
    const earlier = service.clock.now();
    service.clock.advance(1);
    await activeSubscription(service, receiver.url());
    await publish(service, { occurredAt: earlier });
    expect(await deliveries(service)).toEqual([]);
    await publish(service, { occurredAt: service.clock.now() });
    await received(1);
  });

  test('one that was paused then is skipped, though it is active by now', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    service.clock.advance(1_000);
    await service.as().post(`${path}/pause`);
    const during = service.clock.now();
    service.clock.advance(1_000);
    await service.as().post(`${path}/resume`);
    await publish(service, { occurredAt: during });
    expect(await deliveries(service)).toEqual([]);
  });

  test('one that was active then and is paused by now gets it when it is resumed', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    service.clock.advance(1_000);
    const before = service.clock.now();
    service.clock.advance(1_000);
    await service.as().post(`${path}/pause`);
    await publish(service, { occurredAt: before });
    expect(await deliveries(service)).toMatchObject([{ status: 'held', attempts: 0 }]);
    await service.as().post(`${path}/resume`);
    await received(1);
  });

  test('one that is revoked by now gets nothing', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    const before = service.clock.now();
    service.clock.advance(1_000);
    await service.as().post(`${path}/revoke`);
    await publish(service, { occurredAt: before });
    expect(await deliveries(service)).toEqual([]);
  });
});

describe('a queue of 1,000 deliveries', () => {
  const fill = async (workspaceId: number, subscriptionId: string, count: number) => {
    const now = service.clock.now();
    await service.rows.raw(
      `with added as (
         insert into events (id, workspace_id, body, occurred_at, queued_at)
         select gen_random_uuid(), ?, '{}', ?, ? from generate_series(1, ?) returning id)
       insert into deliveries (event_id, subscription_id, workspace_id, status, due_at, deadline_at)
       select id, ?, ?, 'held', ?, ?::timestamptz + interval '1 day' from added`,
      [workspaceId, now, now, count, subscriptionId, workspaceId, now, now],
    );
  };
  const skipped = async () => {
    const metrics = await (await fetch(`${service.app.url}/metrics`)).text();
    return Number(/^tocsin_webhook_skipped_total\S* (\d+)$/m.exec(metrics)?.[1] ?? 0);
  };

  test('takes what fits, in the order of the subscriptions, and skips the rest', async () => {
    const first = await activeSubscription(service, receiver.url('/first'));
    const second = await activeSubscription(service, receiver.url('/second'));
    const third = await activeSubscription(service, receiver.url('/third'));
    await fill(1, first.id, 998);
    receiver.respond = () => behave.close();
    const before = await skipped();
    await publish(service, { id: 18 });
    const queued = (await deliveries(service)).slice(998).map((delivery) => delivery.subscription_id);
    expect(queued).toEqual([first.id, second.id]);
    expect((await skipped()) - before).toBe(1);
    expect(service.logged()).toMatch(new RegExp(`"subscriptions":\\["${third.id}"\\].*skipped`));

    // Now that it is full nothing fits, and the incident is created all the same.
    await publish(service, { id: 19 });
    expect(await deliveries(service)).toHaveLength(1_000);
    expect((await skipped()) - before).toBe(4);
  });

  test("is one workspace's own", async () => {
    const { id } = await activeSubscription(service, receiver.url('/full'));
    await activeSubscription(service, receiver.url('/other'), { workspace: { id: 2 } });
    await fill(1, id, 1_000);
    await publish(service, { workspace: { id: 2 } });
    expect((await received(1)).map(({ path }) => path)).toEqual(['/other']);
  });

  test('is never longer, however many events come at once', async () => {
    const { id } = await activeSubscription(service, receiver.url());
    await fill(1, id, 990);
    receiver.respond = () => behave.close();
    const before = await skipped();
    await publish(service, ...Array.from({ length: 30 }, (_, n) => ({ id: n + 1 })));
    expect(await deliveries(service)).toHaveLength(1_000);
    expect((await skipped()) - before).toBe(20);
  });
});

test('does not wait for the next look at the queue', async () => {
  const patient = await startService({ receivers: [receiver], realTime: true, parts: { dispatchInterval: 60_000 } });
  await activeSubscription(patient, receiver.url());
  await publish(patient, { occurredAt: new Date().toISOString() });
  // The dispatcher's own look at the queue is a minute away: only the commit can wake it.
  await received(1);
  await patient.stop();
});
