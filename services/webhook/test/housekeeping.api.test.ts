import { expect, test } from '@jest/globals';
import { behave, eventually } from '@tocsin/testing';
import { deliveryLimits } from '../src/administration.ts';
import { clockTime } from '../src/shared/store/time.ts';
import { deleteExpiredData } from '../src/deliveries/housekeeping.ts';
import { activeSubscription, deliveries, publish, settled, serviceWithReceiver } from './service.ts';

const DAY = 24 * 3_600_000;

const { receiver, service } = await serviceWithReceiver({ overrides: { expiryInterval: 100 } });

/** What the service runs once an hour. */
const deleteExpired = async (settings = {}) =>
  deleteExpiredData({
    database: service.knex,
    time: clockTime(service.clock),
    deliveryLimits: deliveryLimits(settings),
  });
const count = async (table: string) => (await service.knex(table).select(service.knex.raw('1'))).length;

test.each([
  [7, {}],
  [2, { WEBHOOK_DELIVERY_RETENTION_DAYS: '2' }],
])('events, their deliveries and the attempts are kept for %d days with %j', async (days, settings) => {
  const stored = async () => Promise.all(['events', 'deliveries', 'attempts'].map(count));
  await activeSubscription(service, receiver.url());
  await publish(service, {});
  await settled(service, ({ status }) => status === 'succeeded');
  service.clock.advance(days * DAY - 1);
  await deleteExpired(settings);
  expect(await stored()).toEqual([1, 1, 1]);
  service.clock.advance(1);
  await deleteExpired(settings);
  expect(await stored()).toEqual([0, 0, 0]);
});

test('expired data is deleted, and nothing else', async () => {
  const { path } = await activeSubscription(service, receiver.url());
  await service.as().post(`${path}/rotate-secret`);
  await publish(service, {});
  await settled(service, ({ status }) => status === 'succeeded');
  await service.as().post(`${path}/pause`);
  await service.as().post(`${path}/resume`);
  await deleteExpired();
  const tables = ['secrets', 'activity', 'windows', 'host_addresses'];
  expect(await Promise.all(tables.map(count))).toEqual([2, 2, 4, 1]);
  service.clock.advance(31 * DAY);
  await deleteExpired();
  expect(await Promise.all(tables.map(count))).toEqual([1, 1, 0, 0]);
  expect(await service.knex('activity').first('ended_at')).toEqual({ ended_at: null });
});

test('revoked webhooks are kept for thirty days, or as long as the operator says, and others always', async () => {
  const revoked = await activeSubscription(service, receiver.url());
  const kept = await activeSubscription(service, receiver.url());
  await service.as().post(`${revoked.path}/revoke`);
  const listed = async () =>
    (await service.as().get('/api/v1/settings/webhooks')).body.webhooks.map(({ id }: { id: string }) => id);
  service.clock.advance(30 * DAY - 1);
  await deleteExpired();
  expect(await listed()).toEqual([revoked.id, kept.id]);
  service.clock.advance(1);
  await deleteExpired({ WEBHOOK_REVOKED_RETENTION_DAYS: '31' });
  expect(await listed()).toEqual([revoked.id, kept.id]);
  await deleteExpired();
  expect(await listed()).toEqual([kept.id]);
});

test('held deliveries fail at their deadline, are counted, and leave the queue', async () => {
  receiver.respond = () => behave.answer(503);
  const { path } = await activeSubscription(service, receiver.url());
  await publish(service, {});
  await settled(service, ({ attempts }) => attempts === 1);
  await service.as().post(`${path}/pause`);
  service.clock.advance(DAY);
  await eventually(async () => (await deliveries(service))[0]?.status === 'failed');
  await eventually(async () => {
    const text = await (await fetch(`${service.app.url}/metrics`)).text();
    expect(text).toMatch(/^tocsin_webhook_dead_letters_total\{reason="deadline".*\} 1$/m);
    expect(text).toMatch(/^tocsin_webhook_queue_length\{status="held".*\} 0$/m);
    return true;
  });
});
