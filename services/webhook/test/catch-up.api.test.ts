import { expect, test } from '@jest/globals';
import { addMilliseconds } from '@tocsin/runtime';
import { behave, eventually } from '@tocsin/testing';
import { FEED } from './feed.ts';
import { activeSubscription, deliveries, publish, settled, serviceWithReceiver } from './service.ts';

const { receiver, service } = await serviceWithReceiver();

const webhook = async () => (await service.as().get('/api/v1/settings/webhooks')).body.webhooks[0];
const stopped = async () => {
  const metrics = await (await fetch(`${service.app.url}/metrics`)).text();
  return Number(/^tocsin_webhook_stopped_total\S* (\d+)$/m.exec(metrics)?.[1]);
};

test('what a stopped webhook has missed is in the feed from its last success on, under the same IDs', async () => {
  const { path } = await activeSubscription(service, receiver.url());
  const before = await stopped();
  receiver.respond = () => behave.answer(204);
  await publish(service, { id: 1 });
  await settled(service, ({ status }) => status === 'succeeded');
  service.clock.toNextMinute();

  // Five incidents in one moment, in which the receiver answers 503.
  receiver.respond = () => behave.answer(503);
  await publish(service, ...[2, 3, 4, 5, 6].map((id) => ({ id })));
  await eventually(async () => (await webhook()).status === 'paused');
  await eventually(async () => (await stopped()) === before + 1);
  expect(service.logged()).toContain('"pauses_subscription":true');
  service.clock.advance(1_000);
  service.incidents.last = 7;
  await publish(service, { id: 7 });
  const { last_success_at: lastSuccess } = await webhook();

  receiver.respond = () => behave.answer(204);
  service.clock.toNextMinute();
  expect(await service.as().post(`${path}/verify`)).toMatchObject({ status: 200 });
  await eventually(async () => (await deliveries(service)).every(({ status }) => status === 'succeeded'), {});
  const sent = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));

  const from = addMilliseconds(lastSuccess, -60_000);
  const { body } = await service.as().get(`${FEED}?types=incident.created&from=${from}`);
  const missed = body.events.filter(({ id }: { id: string }) => !sent.has(id));
  expect(body.events).toHaveLength(7);
  expect(missed.map(({ data }: { data: { incident: { id: number } } }) => data.incident.id)).toEqual([7]);
});

test('one incident stops a webhook after four seconds if each answer asks for a retry in one', async () => {
  await activeSubscription(service, receiver.url());
  receiver.respond = () => behave.answer(503, { 'Retry-After': '1' });
  await publish(service, {});
  for (let n = 1; n < 5; n += 1) {
    await settled(service, ({ attempts }) => attempts === n);
    service.clock.advance(1_000);
  }
  await settled(service, ({ attempts }) => attempts === 5);
  expect((await webhook()).status).toBe('paused');
});
