import { afterAll, expect, test } from '@jest/globals';
import { isNegativeAnswer, systemResolver } from '../src/index.ts';
import { startNameServer } from './name-server.ts';

const server = await startNameServer();
server.names
  .set('both.example', ['2606:4700:4700::1111', '8.8.8.8', '1.1.1.1'])
  .set('four.example', ['8.8.8.8'])
  .set('six.example', ['2606:4700:4700::1111'])
  .set('empty.example', [])
  .set('broken.example', 'SERVFAIL')
  .set('silent.example', 'silence')
  .set('four-only.example', { A: ['8.8.8.8'], AAAA: 'silence' })
  .set('six-only.example', { A: 'silence', AAAA: ['2606:4700:4700::1111'] })
  .set('empty-four.example', { A: [], AAAA: 'silence' });
afterAll(async () => server.stop());

const never = new AbortController().signal;
const resolve = async (host: string, signal = never) => systemResolver({ servers: [server.address] })(host, signal);

test('returns all IPv4 and IPv6 addresses', async () => {
  expect((await resolve('both.example')).toSorted()).toEqual(['1.1.1.1', '2606:4700:4700::1111', '8.8.8.8']);
  expect(await resolve('four.example')).toEqual(['8.8.8.8']);
  expect(await resolve('six.example')).toEqual(['2606:4700:4700::1111']);
});

test.each(['missing.example', 'empty.example'])('%s has no address, which is a negative answer', async (host) => {
  const error = await resolve(host).catch((reason: unknown) => reason);
  expect(isNegativeAnswer(error)).toBe(true);
});

test('a server failure is not a negative answer', async () => {
  const error = await resolve('broken.example').catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'ESERVFAIL' });
  expect(isNegativeAnswer(error)).toBe(false);
});

test('stops when its signal is aborted', async () => {
  const error = await resolve('silent.example', AbortSignal.timeout(200)).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'ECANCELLED' });
  expect(isNegativeAnswer(error)).toBe(false);
});

test('does not wait for an answer that does not come if it has addresses of the other family', async () => {
  const soon = () => AbortSignal.timeout(1_500);
  expect(await resolve('four-only.example', soon())).toEqual(['8.8.8.8']);
  expect(await resolve('six-only.example', soon())).toEqual(['2606:4700:4700::1111']);
  // Without an address it does.
  await expect(resolve('empty-four.example', AbortSignal.timeout(500))).rejects.toMatchObject({ code: 'ECANCELLED' });
});

test('does not query the name server for localhost', async () => {
  const queries = server.queries.length;
  expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1']);
  expect(await resolve('app.localhost')).toEqual(['127.0.0.1', '::1']);
  expect(server.queries).toHaveLength(queries);
});
