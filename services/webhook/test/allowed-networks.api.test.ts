import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { activeSubscription, deliveries, publish, settled, serviceForFile, subscribe } from './service.ts';

const NAME = 'hooks.corp.internal';

let addresses = ['127.0.0.1'];
const receiver = stopAfterAll(await startReceiver({ names: [NAME] }));
const service = await serviceForFile({
  receivers: [receiver],
  settings: { WEBHOOK_ALLOWED_NETWORKS: `127.0.0.1/32:${receiver.port},127.0.0.3/32:${receiver.port}` },
  overrides: { resolve: async () => addresses },
});

test('a receiver in a network that the operator opened is verified and gets events', async () => {
  const { path } = await subscribe(service.as(), receiver.url('/in', NAME));
  expect(await service.as().post(`${path}/verify`)).toMatchObject({
    status: 200,
    body: { webhook: { status: 'active' } },
  });
  await publish(service, {});
  await settled(service, ({ status }) => status === 'succeeded');
  expect(receiver.requests.map(({ host, path: at }) => [host, at])).toEqual([
    [NAME, '/in'],
    [NAME, '/in'],
  ]);
});

test('the refusal of another port, and of another address, names the setting', async () => {
  const create = async (url: string) => service.as().post('/api/v1/settings/webhooks', { url });
  expect(await create(`https://${NAME}:1/`)).toMatchObject({
    status: 400,
    body: { field: 'url', message: expect.stringContaining('WEBHOOK_ALLOWED_NETWORKS') },
  });
  const { path } = await subscribe(service.as(), receiver.url('/other', NAME));
  addresses = ['127.0.0.1', '127.0.0.2'];
  expect(await service.as().post(`${path}/verify`)).toMatchObject({
    status: 409,
    body: {
      message: expect.stringContaining('WEBHOOK_ALLOWED_NETWORKS'),
      details: { reason: 'blocked_address' },
    },
  });
  expect(receiver.requests.filter(({ path: at }) => at === '/other')).toEqual([]);
});

test('a receiver with several addresses gets events at the one that answers, whose limits count', async () => {
  await service.reset();
  receiver.requests.length = 0;
  // Nothing listens on the first one.
  addresses = ['127.0.0.3', '127.0.0.1'];
  await activeSubscription(service, receiver.url('/in', NAME));
  await publish(service, {});
  expect(await settled(service, ({ status }) => status === 'succeeded')).toMatchObject({ attempts: 1 });
  const counted = async () =>
    service.knex('windows').where({ scope: 'delivery:ip' }).where('used', '>', 0).select('key', 'used');
  expect(await counted()).toEqual([{ key: '127.0.0.1', used: 1 }]);

  // As if other requests to this address were under way: this is no attempt.
  const now = service.clock.now();
  const slot = { kind: 'delivery', workspace_id: 2, host: 'other.example', ip: '127.0.0.1', minute: now };
  const leased = { ...slot, lease_until: new Date(Date.parse(now) + 60_000).toISOString() };
  await service
    .knex('slots')
    .insert([1, 2].map((share) => ({ ...leased, share, window_share: share, token: randomUUID() })));
  await service.knex('host_addresses').delete();
  await publish(service, { id: 2 });
  await eventually(() => service.logged().includes('"stage":"prepare","result":"released"'));
  await service.knex('slots').where({ host: 'other.example' }).delete();
  await eventually(async () => (await deliveries(service))[1]?.status === 'succeeded');
  expect((await deliveries(service))[1]).toMatchObject({ attempts: 1 });
  expect(receiver.requests).toHaveLength(2);
});
