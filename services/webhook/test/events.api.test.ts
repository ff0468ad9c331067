import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { MemoryBroker } from '@tocsin/messaging';
import { addMilliseconds } from '@tocsin/runtime';
import { behave, eventually } from '@tocsin/testing';
import { Webhook } from 'standardwebhooks';
import {
  activeSubscription,
  deliveries,
  incidentCreated,
  publish,
  settled,
  serviceWithReceiver,
  startService,
  type TestIncident,
} from './service.ts';

const { receiver, service } = await serviceWithReceiver({
  settings: { WEBHOOK_RESOURCE_URL: 'https://{workspace}.example.com/incidents/{reference}' },
});

const received = async (count: number) =>
  eventually(() => receiver.requests.length >= count && receiver.requests, { what: `${count} requests` });

/** Waits until no delivery is queued. */
const idle = async () =>
  eventually(async () => (await deliveries(service)).every(({ status }) => status !== 'queued'), {
    what: 'an empty queue',
  });

describe('a new incident', () => {
  test('is sent to the receiver as a signed envelope', async () => {
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

  test('is sent to every active subscription of its workspace, and to no other', async () => {
    await activeSubscription(service, receiver.url('/one'));
    await activeSubscription(service, receiver.url('/two'));
    await activeSubscription(service, receiver.url('/other-workspace'), { workspace: { id: 2 } });
    await publish(service, {});
    await received(2);
    await idle();
    expect(receiver.requests.map(({ path }) => path).sort()).toEqual(['/one', '/two']);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
  });

  test('that comes again after the inbox has forgotten it is a duplicate', async () => {
    await activeSubscription(service, receiver.url());
    const event = incidentCreated(service, { id: 41 });
    const message = { id: event.id, type: event.type, body: JSON.stringify(event) };
    expect(await service.broker.publish([message])).toEqual(['confirmed']);
    const queued = await deliveries(service);
    expect(queued).toHaveLength(1);
    await service.knex('inbox').delete();
    await service.knex('feed_events').delete();
    expect(await service.broker.publish([message])).toEqual(['confirmed']);
    expect((await deliveries(service)).map(({ id }) => id)).toEqual(queued.map(({ id }) => id));
  });

  test('is recorded in the feed and queued for delivery together, or not at all', async () => {
    await activeSubscription(service, receiver.url());
    const { id, type, ...message } = incidentCreated(service);
    const recorded = async () => service.knex('feed_events').where({ event_id: id }).pluck('position');
    const send = async () => service.broker.publish([{ id, type, body: JSON.stringify({ id, type, ...message }) }]);
    await service.knex.raw('alter table deliveries add constraint refused check (false) not valid');
    try {
      expect(await send()).toEqual(['failed']);
      expect(await recorded()).toEqual([]);
    } finally {
      await service.knex.raw('alter table deliveries drop constraint refused');
    }
    await eventually(async () => (await send())[0] === 'confirmed', { what: 'the event to be handled' });
    await received(1);
    expect(await recorded()).toHaveLength(1);
  });

  test('is not sent for a demo workspace', async () => {
    await activeSubscription(service, receiver.url());
    await publish(service, { workspace: { is_demo: true } });
    expect(await deliveries(service)).toEqual([]);
  });
});

// Subscriptions have times of this service's clock, incidents have times of the incident service's clock.
describe('an incident of a workspace', () => {
  const publishTo = async (broker: MemoryBroker, incident: TestIncident) => {
    const { id, type, ...message } = incidentCreated(service, incident);
    expect(await broker.publish([{ id, type, body: JSON.stringify({ id, type, ...message }) }])).toEqual(['confirmed']);
  };

  test('without subscriptions leaves neither deliveries nor a row in the inbox', async () => {
    const { id: revoked } = await activeSubscription(service, receiver.url(), { workspace: { id: 2 } });
    await service.as({ workspace: { id: 2 } }).post(`/api/v1/settings/webhooks/${revoked}/revoke`);
    await publish(service, { id: 1 }, { id: 1, workspace: { id: 2 } });
    expect(await service.knex('inbox').select('message_id')).toEqual([]);
    expect(await deliveries(service)).toEqual([]);
  });

  test('is sent if another replica has activated the subscription before, whatever this one knew', async () => {
    const broker = new MemoryBroker();
    const replica = await service.startReplica({ broker });
    const ids = Array.from({ length: 20 }, (_, index) => index + 1);
    const expected = await Promise.all(
      ids.map(async (workspaceId) => {
        const workspace = { id: workspaceId };
        await publishTo(broker, { id: 6, workspace });
        service.incidents.last = 7;
        const activating = activeSubscription(service, receiver.url(), { workspace });
        // Created before the activation; it may arrive at any time.
        const earlier = publishTo(broker, { id: 7, workspace });
        await activating;
        const messageId = randomUUID();
        await publishTo(broker, { id: 8, workspace, messageId });
        await publishTo(broker, { id: 5, workspace });
        await earlier;
        return messageId;
      }),
    );
    expect((await deliveries(service)).map(({ event_id: id }) => id).toSorted()).toEqual(expected.toSorted());
    await replica.stop();
    await broker.close();
  });
});

describe.each([0, -3_600_000, 3_600_000])('the creation of the incident decides, with clocks %d ms apart', (skew) => {
  /** An incident with this number that is created now. */
  const created = (id: number) => {
    service.incidents.last = Math.max(service.incidents.last, id);
    return { id, occurredAt: addMilliseconds(service.clock.now(), skew) };
  };

  test('a new subscription does not receive earlier incidents', async () => {
    const earlier = created(1);
    service.clock.advance(1);
    await activeSubscription(service, receiver.url());
    await publish(service, earlier);
    expect(await deliveries(service)).toEqual([]);
    await publish(service, created(2));
    await received(1);
  });

  test('a subscription that was paused at that time is skipped, even if it is active now', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    service.clock.advance(1_000);
    await service.as().post(`${path}/pause`);
    const during = created(1);
    service.clock.advance(1_000);
    await service.as().post(`${path}/resume`);
    await publish(service, during);
    expect(await deliveries(service)).toEqual([]);
    await publish(service, created(2));
    await received(1);
  });

  test('a subscription that was active at that time and is paused now receives it when it is resumed', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    service.clock.advance(1_000);
    const before = created(1);
    service.clock.advance(1_000);
    await service.as().post(`${path}/pause`);
    await publish(service, created(2), before);
    expect(await deliveries(service)).toMatchObject([{ status: 'held', attempts: 0 }]);
    await service.as().post(`${path}/resume`);
    await received(1);
    expect(receiver.requests[0]?.body).toContain('"reference":"INC-1"');
  });

  test('a subscription that is revoked now receives nothing', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    const before = created(1);
    service.clock.advance(1_000);
    await service.as().post(`${path}/revoke`);
    await publish(service, before);
    expect(await deliveries(service)).toEqual([]);
  });

  test('a subscription that five failures paused afterwards receives it when it is verified again', async () => {
    receiver.respond = () => behave.answer(404);
    const { path } = await activeSubscription(service, receiver.url());
    const failing = [1, 2, 3, 4, 5].map(created);
    const before = created(6);
    await publish(service, ...failing);
    const status = async () => (await service.as().get('/api/v1/settings/webhooks')).body.webhooks[0].status as string;
    await eventually(async () => (await status()) === 'paused', { what: 'the subscription to be paused' });
    await publish(service, before, created(7));
    expect((await deliveries(service)).filter(({ status: each }) => each === 'held')).toHaveLength(1);
    receiver.respond = () => behave.answer(204);
    receiver.requests.length = 0;
    expect((await service.as().post(`${path}/verify`)).status).toBe(200);
    await received(2);
    expect(receiver.requests[1]?.body).toContain('"reference":"INC-6"');
  });
});

describe('while the incident service is unavailable', () => {
  test('no subscription is activated, because the first incident for it would be unknown', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    await service.as().post(`${path}/pause`);
    service.incidents.down = true;
    for (const command of ['resume', 'verify']) {
      const { status, body, headers } = await service.as().post(`${path}/${command}`);
      expect([status, body.code, headers.get('Retry-After')]).toEqual([503, 'service_unavailable', '1']);
    }
    const { body } = await service.as().get('/api/v1/settings/webhooks');
    expect(body.webhooks).toMatchObject([{ status: 'paused' }]);
  });

  test('an active subscription stays active and can be paused; times decide which incidents it receives', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    service.incidents.down = true;
    expect((await service.as().post(`${path}/resume`)).status).toBe(200);
    expect((await service.as().post(`${path}/verify`)).status).toBe(200);
    const before = service.clock.now();
    service.clock.advance(1_000);
    expect((await service.as().post(`${path}/pause`)).body.webhook).toMatchObject({ status: 'paused' });
    await publish(service, { id: 1, occurredAt: before }, { id: 2, occurredAt: service.clock.now() });
    expect(await deliveries(service)).toMatchObject([{ status: 'held' }]);
  });
});

test('intervals without numbers, as older versions stored them, are compared by time', async () => {
  await activeSubscription(service, receiver.url());
  await service.knex('activity').update({ after_number: null });
  service.incidents.last = 5;
  const before = addMilliseconds(service.clock.now(), -1);
  await publish(service, { id: 1, occurredAt: before });
  expect(await deliveries(service)).toEqual([]);
  await publish(service, { id: 2, occurredAt: service.clock.now() });
  await received(1);
});

describe('a queue of 1,000 deliveries', () => {
  const fill = async (workspaceId: number, subscriptionId: string, count: number) => {
    const now = service.clock.now();
    await service.knex.raw(
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

  test('accepts deliveries up to the limit in the order of the subscriptions, and skips the rest', async () => {
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

    // The queue is full: the event is consumed, and no delivery is queued.
    await publish(service, { id: 19 });
    expect(await deliveries(service)).toHaveLength(1_000);
    expect((await skipped()) - before).toBe(4);
  });

  test('belongs to one workspace', async () => {
    const { id } = await activeSubscription(service, receiver.url('/full'));
    await activeSubscription(service, receiver.url('/other'), { workspace: { id: 2 } });
    await fill(1, id, 1_000);
    await publish(service, { workspace: { id: 2 } });
    expect((await received(1)).map(({ path }) => path)).toEqual(['/other']);
  });

  test('is never longer, however many events arrive at once', async () => {
    const { id } = await activeSubscription(service, receiver.url());
    await fill(1, id, 990);
    receiver.respond = () => behave.close();
    const before = await skipped();
    await publish(service, ...Array.from({ length: 30 }, (_, n) => ({ id: n + 1 })));
    expect(await deliveries(service)).toHaveLength(1_000);
    expect((await skipped()) - before).toBe(20);
  });
});

test('a new delivery does not wait for the next poll of the queue', async () => {
  const slowPolling = await startService({
    receivers: [receiver],
    realTime: true,
    overrides: { dispatchInterval: 60_000 },
  });
  await activeSubscription(slowPolling, receiver.url());
  await publish(slowPolling, { occurredAt: new Date().toISOString() });
  // The dispatcher polls the queue only once a minute, so the commit must have woken it.
  await received(1);
  await slowPolling.stop();
});
