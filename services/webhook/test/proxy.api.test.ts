import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startConnectProxy, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { activeSubscription, deliveries, publish, settled, serviceForFile, subscribe } from './service.ts';

const NAME = 'hooks.example';
const URL = `https://${NAME}/in?key=1`;

const receiver = stopAfterAll(await startReceiver({ names: [NAME] }));
const proxy = stopAfterAll(await startConnectProxy());
proxy.targets.set(`${NAME}:443`, receiver.port);
const service = await serviceForFile({
  receivers: [receiver],
  settings: {
    HTTPS_PROXY: proxy.url.replace('//', '//user:hidden-password@'),
    WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8:8443',
  },
  overrides: { resolve: async () => Promise.reject(new Error('the proxy resolves names')) },
});
beforeEach(() => {
  proxy.refusal = undefined;
  proxy.requests.length = 0;
  receiver.requests.length = 0;
});
afterEach(async () => service.reset());

test('verifications and deliveries go through it, and it sees only the host', async () => {
  const { path } = await subscribe(service.as(), URL);
  expect(await service.as().post(`${path}/verify`)).toMatchObject({ status: 200 });
  await publish(service, {});
  await settled(service, ({ status }) => status === 'succeeded');
  expect(receiver.requests.map(({ path: at }) => at)).toEqual(['/in?key=1', '/in?key=1']);
  const authorization = `Basic ${Buffer.from('user:hidden-password').toString('base64')}`;
  expect(proxy.requests).toEqual([
    { target: `${NAME}:443`, authorization },
    { target: `${NAME}:443`, authorization },
  ]);
  expect(service.logged()).not.toContain('hidden-password');
});

test('messages of destinations go through it', async () => {
  const created = await service.as().post('/api/v1/settings/destinations', { name: 'Chat', kind: 'slack', url: URL });
  expect(created).toMatchObject({ status: 201 });
  const path = `/api/v1/settings/destinations/${created.body.destination.id}`;
  expect((await service.as().post(`${path}/test`)).body.test).toMatchObject({ is_accepted: true, status: 204 });
  expect(proxy.requests).toMatchObject([{ target: `${NAME}:443` }]);
  expect(receiver.requests).toMatchObject([{ path: '/in?key=1' }]);
});

test('the limits of an address count the name, since its address is not known', async () => {
  await activeSubscription(service, URL);
  await publish(service, {});
  await settled(service, ({ status }) => status === 'succeeded');
  const counted = await service.knex('windows').where({ scope: 'delivery:ip' }).select('key', 'used');
  expect(counted).toEqual([{ key: NAME, used: 1 }]);
});

test('a verification that it refuses says so', async () => {
  proxy.refusal = 403;
  const { path } = await subscribe(service.as(), URL);
  expect(await service.as().post(`${path}/verify`)).toMatchObject({
    status: 409,
    body: { details: { reason: 'proxy' } },
  });
});

test('while it refuses everything, deliveries are tried again, and no webhook is at fault', async () => {
  proxy.refusal = 407;
  await activeSubscription(service, URL);
  await publish(service, {});
  expect(await settled(service, ({ attempts }) => attempts === 1)).toMatchObject({
    status: 'queued',
    last_error: 'proxy',
  });
  const { body } = await service.as().get('/api/v1/settings/webhooks');
  expect(body.webhooks).toMatchObject([{ status: 'active', last_failure_at: null }]);

  proxy.refusal = undefined;
  const [delivery] = await deliveries(service);
  service.clock.advance(Date.parse(delivery!.due_at) - Date.parse(service.clock.now()));
  await settled(service, ({ status }) => status === 'succeeded');
});

test('a receiver in an opened network is not reached through it: its address cannot be checked', async () => {
  const { path } = await subscribe(service.as(), 'https://hooks.corp.internal:8443/');
  expect(await service.as().post(`${path}/verify`)).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('NO_PROXY'), details: { reason: 'blocked_address' } },
  });
  expect(proxy.requests).toEqual([]);
});
