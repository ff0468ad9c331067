import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { behave, eventually } from '@tocsin/testing';
import { deliveryLimits, deliveryLog } from '../src/administration.ts';
import { clockTime } from '../src/shared/store/time.ts';
import { activeSubscription, deliveries, publish, settled, serviceWithReceiver } from './service.ts';

const DAY = 24 * 3_600_000;

const { receiver, service } = await serviceWithReceiver();

const log = () => deliveryLog(service.knex, clockTime(service.clock));
const statusOf = async (id: number) => (await log().delivery(id)).delivery.status;
/** A delivery that its receiver has refused for good. */
const failedDelivery = async (): Promise<number> => {
  receiver.respond = () => behave.answer(404);
  await publish(service, {});
  const { id } = await settled(service, ({ status }) => status === 'failed');
  receiver.respond = () => behave.answer(204);
  return id;
};
const redeliver = async (deliveryId: number) =>
  log().redeliver({ deliveryId, requestedBy: 'ana@ops' }, deliveryLimits({}));

test('every attempt of a delivery is kept, with its result', async () => {
  const { id: subscriptionId } = await activeSubscription(service, receiver.url());
  receiver.respond = () => behave.answer(503);
  await publish(service, { id: 4 });
  const { id } = await settled(service, ({ attempts }) => attempts === 1);
  receiver.respond = () => behave.answer(204);
  service.clock.advance(5_000);
  await eventually(async () => (await statusOf(id)) === 'succeeded');

  const { delivery, attempts } = await log().delivery(id);
  expect(delivery).toMatchObject({ subscriptionId, incident: 'INC-4', attempts: 2, lastStatus: 204, redelivery: 0 });
  expect(attempts).toEqual([
    {
      number: 1,
      startedAt: expect.any(String),
      duration: expect.any(Number),
      result: 'status',
      status: 503,
      answer: null,
    },
    {
      number: 2,
      startedAt: expect.any(String),
      duration: expect.any(Number),
      result: 'succeeded',
      status: 204,
      answer: null,
    },
  ]);
  expect(attempts[0]!.startedAt < attempts[1]!.startedAt).toBe(true);
});

test('a deferral is an attempt without a request', async () => {
  await activeSubscription(service, receiver.url());
  const { minute } = { minute: `${service.clock.now().slice(0, 16)}:00.000Z` };
  await service.knex('windows').insert({ minute, scope: 'delivery:ip', key: '127.0.0.1', used: 10 });
  await publish(service, {});
  const { id } = await settled(service, ({ attempts }) => attempts === 1);
  expect((await log().delivery(id)).attempts).toMatchObject([{ number: 1, result: 'deferred', status: null }]);
});

test('deliveries are listed newest first, by subscription and status', async () => {
  const one = await activeSubscription(service, receiver.url('/one'));
  const two = await activeSubscription(service, receiver.url('/two'));
  receiver.respond = ({ path }) => behave.answer(path === '/one' ? 204 : 404);
  // One after the other: events that are published together are handled at the same time.
  await publish(service, { id: 1 });
  await publish(service, { id: 2 });
  await eventually(async () => (await deliveries(service)).every(({ status }) => status !== 'queued'));
  const list = async (filter: object) =>
    (await log().deliveries(1, { limit: 10, ...filter })).map((each) => [each.incident, each.subscriptionId]);
  expect(await list({})).toEqual([
    ['INC-2', two.id],
    ['INC-2', one.id],
    ['INC-1', two.id],
    ['INC-1', one.id],
  ]);
  expect(await list({ subscriptionId: one.id })).toEqual([
    ['INC-2', one.id],
    ['INC-1', one.id],
  ]);
  expect(await list({ status: 'failed', limit: 1 })).toEqual([['INC-2', two.id]]);
  expect(await log().deliveries(2, { limit: 10 })).toEqual([]);
  await expect(log().deliveries(2, { limit: 10, subscriptionId: one.id })).rejects.toThrow('does not exist');
  expect(await log().subscriptions(1)).toMatchObject([
    { id: one.id, status: 'active', waiting: 0 },
    { id: two.id, status: 'active', waiting: 0 },
  ]);
});

describe('a redelivery', () => {
  test('sends the same event and body, as a delivery with attempts and a deadline of its own', async () => {
    await activeSubscription(service, receiver.url());
    const first = await failedDelivery();
    service.clock.advance(DAY);
    const queued = await redeliver(first);
    expect(queued).toMatchObject({ status: 'queued', attempts: 0, redelivery: 1, requestedBy: 'ana@ops' });
    expect(Date.parse(queued.deadlineAt) - Date.parse(service.clock.now())).toBe(DAY);
    await eventually(async () => (await statusOf(queued.id)) === 'succeeded');

    const [before, after] = receiver.requests;
    expect(after!.headers['webhook-id']).toBe(before!.headers['webhook-id']);
    expect(after!.body).toBe(before!.body);
    expect(await statusOf(first)).toBe('failed');
    const line =
      service
        .logged()
        .split('\n')
        .find((each) => each.includes('"redelivery":1')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ delivery: queued.id, redelivery: 1, requested_by: 'ana@ops' });
  });

  test('counts in the windows of its host', async () => {
    await activeSubscription(service, receiver.url());
    const first = await failedDelivery();
    service.clock.toNextMinute();
    const minute = service.clock.now();
    await service.knex('windows').insert({ minute, scope: 'delivery:host', key: 'localhost', used: 9 });
    const { id } = await redeliver(first);
    await eventually(async () => (await statusOf(id)) === 'succeeded');
    expect(await service.knex('windows').where({ minute, scope: 'delivery:host' }).select('used')).toEqual([
      { used: 10 },
    ]);
    const again = await redeliver(id);
    await eventually(() => receiver.requests.length === 2);
    expect(await statusOf(again.id)).toBe('queued');
    service.clock.toNextMinute();
    await eventually(async () => (await statusOf(again.id)) === 'succeeded');
  });

  test('ends with the event, seven days after it was queued', async () => {
    await activeSubscription(service, receiver.url());
    const first = await failedDelivery();
    const { eventQueuedAt } = (await log().delivery(first)).delivery;
    service.clock.advance(7 * DAY - 3_600_000);
    const { deadlineAt } = await redeliver(first);
    expect(Date.parse(deadlineAt) - Date.parse(eventQueuedAt)).toBe(7 * DAY);
  });

  test('is refused for what waits, is paused or is unknown, and after ten times', async () => {
    const { path, id: subscriptionId } = await activeSubscription(service, receiver.url());
    const first = await failedDelivery();
    await service.as().post(`${path}/pause`);
    await expect(redeliver(first)).rejects.toThrow(`The webhook ${subscriptionId} is paused, not active`);
    await service.as().post(`${path}/resume`);

    receiver.respond = () => behave.answer(503);
    const { id } = await redeliver(first);
    await expect(redeliver(first)).rejects.toThrow('waits for its delivery already');
    await expect(redeliver(999_999)).rejects.toThrow('The delivery 999999 does not exist');
    await eventually(async () => (await service.knex('slots').select('token')).length === 0);
    await service.knex('deliveries').where({ id }).update({ status: 'failed', redelivery: 10 });
    await expect(redeliver(first)).rejects.toThrow('was delivered again 10 times, which is the limit');
    await service.as().post(`${path}/revoke`);
    await expect(redeliver(first)).rejects.toThrow('is revoked, not active');
  });

  test('is refused when the queue of the workspace is full, and two at once are one', async () => {
    const { id: subscriptionId } = await activeSubscription(service, receiver.url());
    const first = await failedDelivery();
    const row = { workspace_id: 1, body: '{}', occurred_at: service.clock.now(), queued_at: service.clock.now() };
    const events = Array.from({ length: 1_000 }, () => ({ id: randomUUID(), ...row }));
    await service.knex.batchInsert('events', events);
    const later = new Date(Date.parse(service.clock.now()) + DAY).toISOString();
    await service.knex.batchInsert(
      'deliveries',
      events.map(({ id }) => ({
        event_id: id,
        subscription_id: subscriptionId,
        workspace_id: 1,
        status: 'queued',
        due_at: later,
        deadline_at: later,
      })),
    );
    await expect(redeliver(first)).rejects.toThrow('The queue of the workspace is full: 1000 deliveries wait');
    await service.knex('events').where({ body: '{}' }).delete();
    // It waits for its next attempt.
    receiver.respond = () => behave.answer(503);
    const outcomes = await Promise.allSettled([redeliver(first), redeliver(first)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
