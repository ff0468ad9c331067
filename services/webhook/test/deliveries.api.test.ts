import { describe, expect, test } from '@jest/globals';
import { addMilliseconds } from '@tocsin/runtime';
import { behave, eventually, type Receiver } from '@tocsin/testing';
import { Webhook } from 'standardwebhooks';
import { activeSubscription, deliveries, publish, settled, serviceWithReceiver } from './service.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const { receiver, service } = await serviceWithReceiver();

const subscription = async () => (await service.as().get('/api/v1/settings/webhooks')).body.webhooks[0];
/** The delivery, once its n-th attempt has ended. */
const attempted = async (n: number) => settled(service, ({ attempts }) => attempts === n);
/** Moves the clock to when the delivery is due, plus an offset in milliseconds. */
const toDue = async (offset = 0) => {
  const [delivery] = await deliveries(service);
  service.clock.advance(Date.parse(delivery!.due_at) - Date.parse(service.clock.now()) + offset);
};
/** Verifies the subscription without a check, because checks are rate-limited. */
const verify = async (path: string) => {
  await service.knex('subscriptions').update({ verified: true, consecutive_failures: 0 });
  await service.as().post(`${path}/resume`);
};

/** Publishes an event to a new subscription, whose receiver does this. */
async function firstAttempt(behaviour: ReturnType<Receiver['respond']>) {
  receiver.respond = () => behaviour;
  const { path } = await activeSubscription(service, receiver.url());
  await publish(service, {});
  return { path, delivery: await attempted(1) };
}

describe('retries', () => {
  test('follow after 5, 10, 20, 40, 80, 160 and 320 s, eight attempts in total', async () => {
    receiver.respond = () => behave.answer(503);
    const { path } = await activeSubscription(service, receiver.url());
    await publish(service, {});
    const waits: number[] = [];
    for (let n = 1; n <= 7; n += 1) {
      const { due_at } = await attempted(n);
      waits.push((Date.parse(due_at) - Date.parse(service.clock.now())) / SECOND);
      if (n === 5) await verify(path);
      await toDue();
    }
    const last = await attempted(8);
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320]);
    expect(last).toMatchObject({ status: 'failed', attempts: 8, last_error: 'status', last_status: 503 });
    expect(receiver.requests).toHaveLength(8);
  });

  test('have the same ID and body, and a new signature', async () => {
    receiver.respond = () => behave.answer(receiver.requests.length < 3 ? 500 : 200);
    const { secret } = await activeSubscription(service, receiver.url());
    await publish(service, {});
    await attempted(1);
    await toDue();
    await attempted(2);
    await toDue();
    await settled(service, ({ status }) => status === 'succeeded');
    const { requests } = receiver;
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const stamps = requests.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect([stamps[1]! - stamps[0]!, stamps[2]! - stamps[1]!]).toEqual([5, 10]);
    for (const { headers, body } of requests) {
      expect(() =>
        new Webhook(secret, { format: 'raw' }).verify(body, headers as Record<string, string>),
      ).not.toThrow();
    }
  });

  test('are not sent early', async () => {
    await firstAttempt(behave.answer(500));
    await toDue(-1);
    // Another event is sent meanwhile, which shows that the dispatcher has polled the queue.
    receiver.respond = () => behave.answer(204);
    await publish(service, { id: 2 });
    await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
    expect(receiver.requests).toHaveLength(2);
    service.clock.advance(1);
    await eventually(() => receiver.requests.length === 3);
  });

  test.each([408, 425, 429, 500, 502, 599])('follow a status %d', async (status) => {
    const { delivery } = await firstAttempt(behave.answer(status));
    expect(delivery).toMatchObject({ status: 'queued', last_error: 'status', last_status: status });
  });

  test.each([101, 301, 302, 307, 400, 401, 404, 410, 422])('do not follow a status %d', async (status) => {
    const redirect = { Location: receiver.url('/b') };
    const { delivery } = await firstAttempt(status === 101 ? behave.switching() : behave.answer(status, redirect));
    expect(delivery).toMatchObject({ status: 'failed', last_error: 'status', last_status: status });
    expect(receiver.requests).toHaveLength(1);
    expect(await subscription()).toMatchObject({ status: 'active', last_failure_at: service.clock.now() });
  });

  test.each([
    ['closes the connection', behave.close(), 'connection'],
    ['sends a body that is too large', behave.oversized(), 'body_too_large'],
  ])('follow when the receiver %s', async (_case, behaviour, reason) => {
    expect((await firstAttempt(behaviour)).delivery).toMatchObject({
      status: 'queued',
      last_error: reason,
      due_at: addMilliseconds(service.clock.now(), 5 * SECOND),
    });
    expect(await service.knex('slots').select('token')).toEqual([]);
  });

  test('do not follow a success with exactly 64 KiB', async () => {
    expect((await firstAttempt(behave.oversized(65_536))).delivery).toMatchObject({ status: 'succeeded' });
  });
});

describe('the deadline', () => {
  test('fails a delivery 24 hours after it was queued, including pauses', async () => {
    const { path } = await firstAttempt(behave.answer(503, { 'Retry-After': '3600' }));
    await service.as().post(`${path}/pause`);
    service.clock.advance(24 * HOUR);
    receiver.respond = () => behave.answer(204);
    await service.as().post(`${path}/resume`);
    // A new event shows that the dispatcher has polled the queue.
    await publish(service, { id: 2 });
    await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.requests[1]?.body).toContain('INC-2');
  });
});

describe('five consecutive failures', () => {
  test('pause the subscription until it is verified again, and hold its deliveries', async () => {
    receiver.respond = () => behave.answer(500);
    const { path } = await activeSubscription(service, receiver.url());
    await publish(service, {});
    for (let n = 1; n <= 4; n += 1) {
      await attempted(n);
      expect(await subscription()).toMatchObject({ status: 'active' });
      await toDue();
    }
    expect(await attempted(5)).toMatchObject({ status: 'held' });
    const paused = await subscription();
    expect(paused).toMatchObject({ status: 'paused', last_failure_at: service.clock.now(), last_success_at: null });
    expect(await service.as().post(`${path}/resume`)).toMatchObject({ status: 409 });

    // Events are skipped meanwhile.
    service.clock.advance(SECOND);
    await publish(service, { id: 2 });
    expect(await deliveries(service)).toHaveLength(1);

    receiver.respond = () => behave.answer(204);
    service.clock.advance(MINUTE);
    expect((await service.as().post(`${path}/verify`)).body.webhook.status).toBe('active');
    service.clock.advance(HOUR);
    expect(await attempted(6)).toMatchObject({ status: 'succeeded' });
  });

  test('are counted across deliveries, including refusals', async () => {
    receiver.respond = () => behave.answer(404);
    await activeSubscription(service, receiver.url());
    for (let id = 1; id <= 5; id += 1) {
      await publish(service, { id });
      await eventually(async () => (await deliveries(service))[id - 1]?.status === 'failed');
    }
    expect(await subscription()).toMatchObject({ status: 'paused' });
  });

  test('are counted from zero after a success', async () => {
    await activeSubscription(service, receiver.url());
    for (let id = 1; id <= 9; id += 1) {
      receiver.respond = () => behave.answer(id === 5 ? 204 : 404);
      await publish(service, { id });
      await eventually(async () => ['failed', 'succeeded'].includes((await deliveries(service))[id - 1]?.status ?? ''));
    }
    expect(await subscription()).toMatchObject({ status: 'active' });
  });
});

describe('pausing', () => {
  test('holds queued deliveries, and resuming sends them', async () => {
    const { path } = await firstAttempt(behave.answer(503));
    await service.as().post(`${path}/pause`);
    service.clock.advance(HOUR);
    // Another subscription's delivery shows that the dispatcher has polled the queue.
    receiver.respond = () => behave.answer(204);
    await activeSubscription(service, receiver.url('/other'));
    await publish(service, { id: 2 });
    await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
    expect(await deliveries(service)).toMatchObject([{ status: 'held', attempts: 1 }, { attempts: 1 }]);
    await service.as().post(`${path}/resume`);
    expect(await attempted(2)).toMatchObject({ status: 'succeeded' });
  });

  test('does not abort a request in progress, and records its outcome', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    const arrived = Promise.withResolvers<() => void>();
    receiver.respond = () => (response) => arrived.resolve(() => void response.writeHead(204).end());
    await publish(service, {});
    const respond = await arrived.promise;
    await service.as().post(`${path}/pause`);
    respond();
    expect(await settled(service, ({ status }) => status === 'succeeded')).toMatchObject({ attempts: 1 });
    expect(await subscription()).toMatchObject({ status: 'paused', last_success_at: service.clock.now() });
  });
});

describe('revoking', () => {
  test('cancels queued deliveries', async () => {
    const { path } = await firstAttempt(behave.answer(503));
    await service.as().post(`${path}/revoke`);
    service.clock.advance(HOUR);
    expect(await deliveries(service)).toMatchObject([{ status: 'cancelled', attempts: 1 }]);
  });

  test('during a request cancels the delivery and frees the slot', async () => {
    const { path } = await activeSubscription(service, receiver.url());
    const arrived = Promise.withResolvers<() => void>();
    receiver.respond = () => (response) => arrived.resolve(() => void response.writeHead(204).end());
    await publish(service, {});
    const respond = await arrived.promise;
    await service.as().post(`${path}/revoke`);
    respond();
    await eventually(async () => (await service.knex('slots').select('token')).length === 0);
    expect(await deliveries(service)).toMatchObject([{ status: 'cancelled' }]);
    expect(await subscription()).toMatchObject({ status: 'revoked', last_success_at: null });
  });
});

describe('after a rotation', () => {
  const signatures = async (id: number) => {
    await publish(service, { id });
    const request = await eventually(() => receiver.requests.find(({ body }) => body.includes(`"INC-${id}"`)));
    await eventually(async () => (await deliveries(service)).every(({ lease_token }) => lease_token === null));
    const { body, headers } = request;
    return {
      count: String(headers['webhook-signature']).split(' ').length,
      by: (secret: string) => {
        try {
          // The library's check of the timestamp would fail with the test's clock, so the test signs and compares.
          const at = new Date(Number(headers['webhook-timestamp']) * SECOND);
          const expected = new Webhook(secret, { format: 'raw' }).sign(String(headers['webhook-id']), at, body);
          return String(headers['webhook-signature']).split(' ').includes(expected);
        } catch {
          return false;
        }
      },
    };
  };

  test('both secrets sign for exactly 24 hours', async () => {
    const { secret: old, path } = await activeSubscription(service, receiver.url());
    const { status, body } = await service.as().post(`${path}/rotate-secret`);
    const fresh = body.secret as string;
    expect({ status, state: body.webhook.status, same: fresh === old }).toEqual({
      status: 200,
      state: 'active',
      same: false,
    });

    const at = async (offset: number, id: number) => {
      service.clock.advance(offset);
      const signed = await signatures(id);
      return { count: signed.count, old: signed.by(old), fresh: signed.by(fresh) };
    };
    expect(await at(0, 1)).toEqual({ count: 2, old: true, fresh: true });
    expect(await at(24 * HOUR - 1, 2)).toEqual({ count: 2, old: true, fresh: true });
    expect(await at(1, 3)).toEqual({ count: 1, old: false, fresh: true });
  });

  test('a second rotation ends the overlap of the first', async () => {
    const first = await activeSubscription(service, receiver.url());
    const second = (await service.as().post(`${first.path}/rotate-secret`)).body.secret as string;
    service.clock.advance(HOUR);
    const third = (await service.as().post(`${first.path}/rotate-secret`)).body.secret as string;
    const signed = await signatures(1);
    expect([signed.count, ...[first.secret, second, third].map(signed.by)]).toEqual([2, false, true, true]);
    service.clock.advance(24 * HOUR);
    const later = await signatures(2);
    expect([later.count, ...[first.secret, second, third].map(later.by)]).toEqual([1, false, false, true]);
  });
});
