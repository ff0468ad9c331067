import { expect, test } from '@jest/globals';
import { egressOf, receiverSettings } from '@tocsin/safe-http';
import { readConfig } from '@tocsin/runtime';
import { behave, eventually, startConnectProxy, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { sourceDocuments } from '../../src/source-imports/clients/source-documents.ts';

const proxy = stopAfterAll(await startConnectProxy());
const server = stopAfterAll(await startReceiver({ names: ['docs.example'] }));
const receiver = stopAfterAll(await startReceiver({ names: ['localhost', '127.0.0.1'] }));

test('the limit of concurrent documents of one workspace does not affect the others', async () => {
  const documents = sourceDocuments({
    egress: { allowed: { testReceivers: new Set([receiver.hostAndPort()]), networks: [] }, proxy: undefined },
    resolve: async () => ['127.0.0.1'],
    ca: receiver.ca,
  });
  const read = async (workspaceId: number, url = receiver.url()) =>
    documents.read({ url, workspaceId, timeZone: 'UTC' }, async (result) => result);
  const TOO_MANY = { status: 'failed', reason: 'Too many documents are being imported at the moment' };
  receiver.respond = () => behave.hang();
  const slow: Promise<unknown>[] = [];
  for (const workspaceId of [1, 2, 3, 4]) {
    for (let count = 0; count < 16; count += 1) slow.push(read(workspaceId));
    expect(await read(workspaceId)).toEqual(TOO_MANY);
  }
  // All workspaces together have a limit too; rejected URLs do not count.
  expect(await read(5)).toEqual(TOO_MANY);
  expect(await read(1, 'http://localhost/')).toMatchObject({ status: 'unsupported' });
  await eventually(() => receiver.requests.length === 64, { what: 'all requests' });

  receiver.closeConnections();
  expect(new Set((await Promise.all(slow)).map((reading) => (reading as { status: string }).status))).toEqual(
    new Set(['failed']),
  );
  receiver.respond = () => behave.answer(404);
  expect(await Promise.all([read(1), read(5)])).toMatchObject([{ status: 'unavailable' }, { status: 'unavailable' }]);
});

test('a document may be in a network that the operator opened, on its port only', async () => {
  const documents = sourceDocuments({
    egress: {
      allowed: { testReceivers: new Set(), networks: [{ cidr: '127.0.0.1/32', port: receiver.port }] },
      proxy: undefined,
    },
    resolve: async () => ['127.0.0.1'],
    ca: receiver.ca,
  });
  const read = async (url: string) =>
    documents.read({ url, workspaceId: 1, timeZone: 'UTC' }, async (result) => result);
  receiver.respond = () => behave.answer(404);
  expect(await read(receiver.url('/', '127.0.0.1'))).toMatchObject({ status: 'unavailable' });
  expect(await read('https://127.0.0.1:1/')).toMatchObject({
    status: 'unsupported',
    reason: expect.stringContaining('WEBHOOK_ALLOWED_NETWORKS'),
  });
});

test('a document is fetched through the proxy of the operator, whose refusals tell nothing about names', async () => {
  proxy.targets.set('docs.example:443', server.port);
  const documents = sourceDocuments({
    egress: egressOf({ NODE_ENV: 'test', ...readConfig(receiverSettings, { HTTPS_PROXY: proxy.url }) }),
    resolve: async () => Promise.reject(new Error('the proxy resolves names')),
    ca: server.ca,
  });
  const read = async (url: string) =>
    documents.read({ url, workspaceId: 1, timeZone: 'UTC' }, async (result) => result);
  server.respond = () => behave.answer(404);
  expect(await read('https://docs.example/timeline')).toMatchObject({ status: 'unavailable' });
  expect(proxy.requests).toMatchObject([{ target: 'docs.example:443' }]);
  const unknown = await read('https://unknown.example/');
  expect(unknown).toMatchObject({ status: 'failed', reason: expect.stringContaining('No public address') });
  proxy.refusal = 403;
  expect(await read('https://private.example/')).toEqual(unknown);
  expect(await read('https://10.0.0.1/')).toMatchObject({ status: 'unsupported' });
  expect(proxy.requests).toHaveLength(3);
});
