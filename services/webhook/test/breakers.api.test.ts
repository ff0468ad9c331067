import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually, type Receiver, startReceiver } from '@tocsin/testing';
import { activeSubscription, deliveries, publish, startService, type TestService } from './service.ts';

let service: TestService;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
  service = await startService({ receivers: [receiver] });
  service.clock.toNextMinute();
});
afterEach(async () => {
  await service.stop();
  await receiver.stop();
});

const metric = async (name: string) => {
  const metrics = await (await fetch(`${service.app.url}/metrics`)).text();
  return Number(new RegExp(`^${name}\\S* (\\d+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN);
};
const attempts = async () => (await deliveries(service)).map((delivery) => delivery.attempts);
const idle = async () =>
  eventually(async () => (await deliveries(service)).every(({ lease_token }) => lease_token === null));

test('deliveries to an unreachable host wait without using attempts, and are sent when it is back', async () => {
  const workspaces = [1, 2, 3];
  for (const id of workspaces) await activeSubscription(service, receiver.url(`/${id}`), { workspace: { id } });
  receiver.handshake = 'close';
  await publish(service, ...workspaces.map((id) => ({ id, workspace: { id } })));
  await eventually(async () => (await attempts()).every((n) => n === 1));
  await idle();
  expect(await metric('tocsin_webhook_breakers_open')).toBe(0);
  service.clock.advance(5_000);
  await eventually(async () => (await attempts()).every((n) => n === 2));
  await idle();
  expect(await metric('tocsin_webhook_breakers_open')).toBe(1);

  // All are due: one probes the host, the others wait unchanged.
  service.clock.advance(10_000);
  await eventually(async () => (await attempts()).includes(3));
  expect((await attempts()).filter((n) => n === 2).length).toBeGreaterThan(0);

  receiver.handshake = 'tls';
  await eventually(async () => (await deliveries(service)).filter(({ status }) => status === 'succeeded').length >= 2);
  service.clock.advance(20_000);
  await eventually(async () => (await deliveries(service)).every(({ status }) => status === 'succeeded'));
  const all = await deliveries(service);
  expect(all.every((delivery) => delivery.attempts === delivery.failed_attempts + 1)).toBe(true);
  expect(await metric('tocsin_webhook_breakers_open')).toBe(0);

  // Waiting deliveries count in no window: the windows count exactly the attempts.
  const windows = await service.knex('windows').where({ scope: 'delivery:all' }).select<{ used: number }[]>('used');
  expect(windows.reduce((sum, { used }) => sum + used, 0)).toBe(
    all.reduce((sum, delivery) => sum + delivery.attempts, 0),
  );
});
