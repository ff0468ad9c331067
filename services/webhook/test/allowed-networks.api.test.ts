import { expect, test } from '@jest/globals';
import { startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { publish, settled, serviceForFile, subscribe } from './service.ts';

const NAME = 'hooks.corp.internal';

let addresses = ['127.0.0.1'];
const receiver = stopAfterAll(await startReceiver({ names: [NAME] }));
const service = await serviceForFile({
  receivers: [receiver],
  settings: { WEBHOOK_ALLOWED_NETWORKS: `127.0.0.1/32:${receiver.port}` },
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
