import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, eventually, startReceiver } from '@tocsin/testing';
import { safeHttp, type SafeHttpOptions, type SafeRequest } from '../src/index.ts';

const NAME = 'receiver.example';

const receiver = await startReceiver({ names: [NAME, '127.0.0.1'] });
afterAll(async () => receiver.stop());
// No test may leave a connection open.
afterEach(async () => eventually(() => receiver.connections === 0, { what: 'all connections to close' }));
beforeEach(() => {
  receiver.respond = () => behave.answer(204);
  receiver.handshake = 'tls';
  receiver.requests.length = 0;
});

const request = async (options: Partial<SafeHttpOptions> = {}, more: Partial<SafeRequest> = {}) =>
  safeHttp({ allows: () => true, resolve: async () => ['127.0.0.1'], ca: receiver.ca, ...options }).request({
    url: receiver.url('/in/box?key=1', NAME),
    method: 'POST',
    timeout: 1_000,
    maxBodyBytes: 1_000,
    prepare: async () => ({ headers: { 'x-test': 'yes' }, body: '{"ü":1}' }),
    ...more,
  });

describe('a request', () => {
  test('goes to the resolved address with the host name of the URL', async () => {
    receiver.respond = () => behave.answer(200, { 'X-Answer': 'a' }, 'done');
    const response = await request();
    expect(response).toMatchObject({ kind: 'response', status: 200, headers: { 'x-answer': 'a' } });
    expect(response.kind === 'response' && response.body.toString()).toBe('done');
    expect(receiver.requests).toMatchObject([
      {
        method: 'POST',
        path: '/in/box?key=1',
        host: NAME,
        body: '{"ü":1}',
        headers: { 'x-test': 'yes', 'content-length': '8', connection: 'close', host: `${NAME}:${receiver.port}` },
      },
    ]);
    expect(receiver.requests[0]?.headers['accept-encoding']).toBeUndefined();
  });

  test('may go to an address literal if the certificate is valid for it', async () => {
    const resolve = async () => Promise.reject(new Error('an address needs no lookup'));
    expect(await request({ resolve }, { url: receiver.url('/', '127.0.0.1') })).toMatchObject({ status: 204 });
  });

  test('may be a GET without a body', async () => {
    const prepare = async () => ({ headers: {} });
    expect(await request({}, { method: 'GET', prepare })).toMatchObject({ status: 204 });
    expect(receiver.requests).toMatchObject([{ method: 'GET', body: '' }]);
  });

  test('can be cancelled before anything is sent', async () => {
    const addresses: string[] = [];
    const prepare = async (address: string) => void addresses.push(address);
    expect(await request({}, { prepare: async (address) => prepare(address).then(() => undefined) })).toEqual({
      kind: 'cancelled',
    });
    expect({ addresses, requests: receiver.requests }).toEqual({ addresses: ['127.0.0.1'], requests: [] });
  });
});

describe('addresses', () => {
  const allows = (address: string) => address === '127.0.0.1';

  test.each([
    ['a refused address', ['10.0.0.1']],
    ['a refused address among others', ['127.0.0.1', '10.0.0.1']],
    ['a refused IPv6 address', ['127.0.0.1', 'fd00::1']],
    ['a refused IPv4-mapped address', ['127.0.0.1', '::ffff:10.0.0.1']],
  ])('%s: nothing is sent', async (_case, addresses) => {
    const prepare = async () => Promise.reject(new Error('must not be called'));
    expect(await request({ allows, resolve: async () => addresses }, { prepare })).toEqual({
      kind: 'failure',
      reason: 'blocked_address',
      isLocal: false,
    });
  });

  test('an IPv4-mapped address is checked and used as IPv4', async () => {
    expect(await request({ allows, resolve: async () => ['::ffff:127.0.0.1'] })).toMatchObject({ status: 204 });
  });

  test('an address literal is checked as well', async () => {
    const response = await request({ allows: () => false }, { url: receiver.url('/', '127.0.0.1') });
    expect(response).toMatchObject({ kind: 'failure', reason: 'blocked_address' });
  });

  test('are checked for the URL', async () => {
    const seen: string[] = [];
    const records = (address: string, url: URL) => {
      seen.push(address, url.href);
      return false;
    };
    await request({ allows: records }, { url: receiver.url('/in', NAME) });
    expect(seen).toEqual(['127.0.0.1', receiver.url('/in', NAME)]);
  });

  test('a name is looked up once, so that a later result has no effect', async () => {
    let lookups = 0;
    const resolve = async () => [(lookups += 1) === 1 ? '127.0.0.1' : '10.0.0.1'];
    expect(await request({ allows, resolve })).toMatchObject({ status: 204 });
    expect(lookups).toBe(1);
  });

  test.each([
    ['with no address', async () => [], false],
    ['with text that is not an address', async () => ['other.example'], false],
    ['that the name does not exist', async () => Promise.reject(withCode('ENOTFOUND')), false],
    ['with a server failure', async () => Promise.reject(withCode('ESERVFAIL')), true],
    ['not at all', async () => Promise.withResolvers<string[]>().promise, true],
  ])('a name server that responds %s', async (_case, resolve, isLocal) => {
    expect(await request({ resolve }, { timeout: 300 })).toEqual({ kind: 'failure', reason: 'dns', isLocal });
  });
});

describe('a failure before the response', () => {
  test.each([
    ['garbage', 'tls'],
    ['plain', 'tls'],
    ['close', 'tls'],
  ] as const)('a broken TLS handshake: %s', async (handshake, reason) => {
    receiver.handshake = handshake;
    expect(await request()).toEqual({ kind: 'failure', reason, isLocal: false });
    expect(receiver.requests).toEqual([]);
  });

  test('a certificate of an unknown authority', async () => {
    expect(await request({ ca: undefined })).toEqual({ kind: 'failure', reason: 'tls', isLocal: false });
  });

  test('a certificate for another name', async () => {
    expect(await request({}, { url: receiver.url('/', 'other.example') })).toEqual({
      kind: 'failure',
      reason: 'tls',
      isLocal: false,
    });
  });

  test('a closed port', async () => {
    const stopped = await startReceiver({ names: [NAME] });
    await stopped.stop();
    expect(await request({}, { url: stopped.url('/', NAME) })).toEqual({
      kind: 'failure',
      reason: 'connection',
      isLocal: false,
    });
  });

  test('an unreachable network is a local failure', async () => {
    // There is no route for a connection to the broadcast address.
    const response = await request({ resolve: async () => ['255.255.255.255'] });
    expect(response).toEqual({ kind: 'failure', reason: 'connection', isLocal: true });
  });
});

describe('a failure of the response', () => {
  const failure = (reason: string, status?: number) => ({
    kind: 'failure',
    reason,
    isLocal: false,
    ...(status !== undefined && { status }),
  });

  test.each([
    ['no response', behave.hang(), failure('timeout')],
    ['no response, and the connection closes', behave.close(), failure('connection')],
    ['headers that never end', behave.slowHeaders(), failure('timeout')],
    ['a Content-Length that is too large', behave.slowBody(), failure('body_too_large', 200)],
    ['a body that is too large', behave.oversized(1_001), failure('body_too_large', 200)],
    ['a body that never ends', behave.endlessBody(), failure('body_too_large', 200)],
    ['a truncated body', behave.truncated(), failure('connection', 200)],
    ['a megabyte of headers', behave.hugeHeaders(), failure('connection')],
    ['endless interim responses', behave.interimFlood(), failure('connection')],
    ['bytes that are not HTTP', behave.garbage(), failure('connection')],
  ])('%s', async (_case, behaviour, expected) => {
    receiver.respond = () => behaviour;
    expect(await request()).toEqual(expected);
  });

  test('a slow body is aborted at the deadline', async () => {
    receiver.respond = () => behave.slowBody();
    expect(await request({}, { maxBodyBytes: 65_536, timeout: 500 })).toEqual(failure('timeout', 200));
  });

  test('a body of exactly the maximum size is accepted', async () => {
    receiver.respond = () => behave.oversized(1_000);
    expect(await request()).toMatchObject({ kind: 'response', status: 200 });
  });

  test('a compressed body is not decompressed and counts by its compressed size', async () => {
    receiver.respond = () => behave.compressed(100_000);
    const response = await request();
    expect(response).toMatchObject({ kind: 'response', status: 200, headers: { 'content-encoding': 'gzip' } });
    expect(response.kind === 'response' && response.body.length).toBeLessThan(1_000);
  });

  test('a switch to another protocol is an ordinary response', async () => {
    receiver.respond = () => behave.switching();
    expect(await request()).toMatchObject({ kind: 'response', status: 101 });
  });

  test('a redirect is not followed', async () => {
    receiver.respond = () => behave.answer(302, { Location: receiver.url('/elsewhere', NAME) });
    expect(await request()).toMatchObject({ kind: 'response', status: 302 });
    expect(receiver.requests).toHaveLength(1);
  });

  test('a refusal with a truncated body is still reported by its status', async () => {
    receiver.respond = () => behave.answer(503, { 'Retry-After': '9', 'Content-Length': '5000' }, 'short');
    expect(await request()).toMatchObject({ kind: 'response', status: 503, headers: { 'retry-after': '9' } });
  });
});

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}
