import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, eventually, startConnectProxy, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { safeHttp, type SafeHttpOptions, type SafeRequest, systemResolver } from '../src/index.ts';
import { egressProxy } from '../src/proxy.ts';
import { startDeafServer } from './deaf-server.ts';
import { startNameServer } from './name-server.ts';

const NAME = 'receiver.example';

const receiver = await startReceiver({ names: [NAME, '127.0.0.1'] });
afterAll(async () => receiver.stop());
const proxy = stopAfterAll(await startConnectProxy());
const secureProxy = stopAfterAll(await startConnectProxy({ secure: true }));
const names = stopAfterAll(await startNameServer());
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

describe('several addresses', () => {
  /** The addresses that the request was prepared for, in order. */
  const prepared: string[] = [];
  const prepare = async (address: string) => {
    prepared.push(address);
    return { headers: {} };
  };
  beforeEach(() => void (prepared.length = 0));

  test('are tried in turn: one that refuses does not matter', async () => {
    const resolve = async () => ['127.0.0.2', '127.0.0.1', '127.0.0.2', '127.0.0.3'];
    expect(await request({ resolve }, { prepare })).toMatchObject({ status: 204 });
    // The request is prepared again for the address that it goes to.
    expect(prepared).toEqual(['127.0.0.2', '127.0.0.1']);
    expect(receiver.requests).toHaveLength(1);
  });

  test('are tried by turns of IPv6 and IPv4', async () => {
    const resolve = async () => ['::1', '127.0.0.2', '127.0.0.1'];
    expect(await request({ resolve }, { prepare })).toMatchObject({ status: 204 });
    expect(prepared.at(-1)).toBe('127.0.0.1');
  });

  test('of which the first does not answer: the next one is tried soon, within the same time', async () => {
    const deaf = await startDeafServer({ host: '127.0.0.2', port: receiver.port });
    try {
      const resolve = async () => ['127.0.0.2', '127.0.0.1'];
      expect(await request({ resolve }, { prepare })).toMatchObject({ status: 204 });
      expect(await request({ resolve: async () => ['127.0.0.2'] }, { prepare, timeout: 500 })).toEqual({
        kind: 'failure',
        reason: 'timeout',
        isLocal: false,
      });
    } finally {
      await deaf.stop();
    }
    expect(prepared).toEqual(['127.0.0.2', '127.0.0.1', '127.0.0.2']);
  });

  test('that all fail are one failure, which is local only if all are', async () => {
    const resolve = async () => ['255.255.255.255', '127.0.0.2'];
    expect(await request({ resolve })).toEqual({ kind: 'failure', reason: 'connection', isLocal: false });
  });

  test('can be refused for the one that answers', async () => {
    const resolve = async () => ['127.0.0.2', '127.0.0.1'];
    const refuse = async (address: string) => (address === '127.0.0.1' ? undefined : { headers: {} });
    expect(await request({ resolve }, { prepare: refuse })).toEqual({ kind: 'cancelled' });
    expect(receiver.requests).toEqual([]);
  });

  test('are tried up to a bound', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `127.0.1.${index}`);
    const resolve = async () => [...many, '127.0.0.1'];
    expect(await request({ resolve })).toMatchObject({ reason: 'connection' });
  });

  test('of one family are used soon if the name server never answers for the other one', async () => {
    names.names.set(NAME, { A: ['127.0.0.1'], AAAA: 'silence' });
    const resolve = systemResolver({ servers: [names.address] });
    // Without the grace this takes five seconds.
    expect(await request({ resolve }, { timeout: 2_000 })).toMatchObject({ status: 204 });
  });
});

describe('a proxy', () => {
  /** As an untrusted URL names it: the proxy connects to the receiver. */
  const URL_OF_NAME = `https://${NAME}/in/box?key=1`;
  for (const { targets } of [proxy, secureProxy]) targets.set(`${NAME}:443`, receiver.port);
  beforeEach(() => {
    proxy.refusal = undefined;
    proxy.requests.length = 0;
  });
  const unresolved = async () => Promise.reject(new Error('the proxy resolves names'));
  const through = async (
    more: Partial<SafeRequest> = {},
    { url = proxy.url, exceptions = [] as string[], ca = receiver.ca } = {},
  ) =>
    request(
      { allows: () => false, resolve: unresolved, ca, proxy: egressProxy({ url: new URL(url), exceptions }) },
      { url: URL_OF_NAME, ...more },
    );

  test('gets a CONNECT with the name; TLS is with the receiver', async () => {
    const prepared: string[] = [];
    const prepare = async (address: string) => {
      prepared.push(address);
      return { headers: { authorization: 'Bearer hidden' }, body: '{}' };
    };
    expect(await through({ prepare })).toMatchObject({ kind: 'response', status: 204 });
    expect(proxy.requests).toEqual([{ target: `${NAME}:443`, authorization: undefined }]);
    expect(prepared).toEqual([NAME]);
    expect(receiver.requests).toMatchObject([
      { path: '/in/box?key=1', host: NAME, body: '{}', headers: { authorization: 'Bearer hidden' } },
    ]);
    expect(receiver.requests[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  test('gets the credentials of its URL', async () => {
    const url = proxy.url.replace('//', '//us%65r:p%40ss@');
    expect(await through({}, { url })).toMatchObject({ status: 204 });
    expect(proxy.requests).toMatchObject([{ authorization: `Basic ${Buffer.from('user:p@ss').toString('base64')}` }]);
  });

  test('may be reached by TLS', async () => {
    const ca = `${receiver.ca}\n${secureProxy.ca}`;
    expect(await through({}, { url: secureProxy.url, ca })).toMatchObject({ status: 204 });
    expect(await through({}, { url: secureProxy.url })).toEqual({ kind: 'failure', reason: 'proxy', isLocal: true });
    expect(secureProxy.requests).toHaveLength(1);
  });

  test.each([
    'https://10.0.0.1/',
    'https://169.254.169.254/',
    'https://[::1]/',
    'https://[64:ff9b::a00:1]/',
    'https://localhost/',
    'https://hooks.internal/',
    'https://intranet/',
    `https://${NAME}:8443/`,
  ])('is not asked for %s', async (url) => {
    expect(await through({ url })).toEqual({ kind: 'failure', reason: 'blocked_address', isLocal: false });
    expect(proxy.requests).toEqual([]);
  });

  test.each([
    [407, true],
    [403, true],
    [502, false],
    [504, false],
  ])('that answers with %d opens no connection', async (status, isLocal) => {
    proxy.refusal = status;
    expect(await through()).toEqual({ kind: 'failure', reason: 'proxy', isLocal });
    expect(receiver.requests).toEqual([]);
  });

  test('that cannot be reached is a local failure, one that never answers is a receiver that does not', async () => {
    const stopped = await startConnectProxy();
    await stopped.stop();
    expect(await through({}, { url: stopped.url })).toEqual({ kind: 'failure', reason: 'proxy', isLocal: true });
    proxy.refusal = 'silence';
    expect(await through({ timeout: 500 })).toEqual({ kind: 'failure', reason: 'timeout', isLocal: false });
  });

  test('does not change how the certificate of the receiver is checked', async () => {
    proxy.targets.set('other.example:443', receiver.port);
    expect(await through({ url: 'https://other.example/' })).toEqual({
      kind: 'failure',
      reason: 'tls',
      isLocal: false,
    });
  });

  test('is not used for exceptions, whose addresses are checked', async () => {
    const resolve = async () => ['127.0.0.1'];
    const exempt = egressProxy({ url: new URL(proxy.url), exceptions: [NAME] });
    expect(await request({ resolve, proxy: exempt })).toMatchObject({ status: 204 });
    expect(await request({ resolve, proxy: exempt, allows: () => false })).toMatchObject({ reason: 'blocked_address' });
    expect(proxy.requests).toEqual([]);
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

/** Framed by RFC 9112, section 6.3. */
describe('what follows a complete response does not count', () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const sized = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n';

  test.each([
    ['an empty chunk after a 204', 'HTTP/1.1 204 No Content\r\n\r\n0\r\n\r\n', ''],
    ['text after a 204', 'HTTP/1.1 204 No Content\r\n\r\nstored\n', ''],
    ['a body after a 204 that announces one', 'HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\ndone', ''],
    [
      'an empty chunk after a 204 that announces chunks',
      'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '',
    ],
    ['bytes beyond Content-Length', `${sized}done\r\n\r\nand more`, 'done'],
    ['a body after Content-Length: 0', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\ndone', ''],
    ['text after the last chunk', `${chunked}4\r\ndone\r\n0\r\n\r\nand more`, 'done'],
    ['a second response', `${sized}doneHTTP/1.1 500 No\r\n\r\n`, 'done'],
    ['much more than a body may have', `${sized}done${'x'.repeat(100_000)}`, 'done'],
  ])('%s', async (_case, bytes, body) => {
    receiver.respond = () => behave.raw(bytes);
    const response = await request();
    expect(response).toMatchObject({ kind: 'response', status: Number(bytes.slice(9, 12)) });
    expect(response.kind === 'response' && response.body.toString()).toBe(body);
  });

  test.each([
    ['too few bytes', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ndone', 'timeout'],
    ['no last chunk', `${chunked}4\r\ndone\r\n`, 'timeout'],
    ['garbage instead of a chunk', `${chunked}4\r\ndone\r\nand more`, 'connection'],
    [
      'a body that is too large, and text after it',
      `${chunked}3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\nx`,
      'body_too_large',
    ],
  ])('%s is still a failure', async (_case, bytes, reason) => {
    receiver.respond = () => behave.raw(bytes);
    expect(await request({}, { timeout: 500 })).toEqual({ kind: 'failure', reason, isLocal: false, status: 200 });
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

describe('with keptBytes', () => {
  const keeping = async (behaviour: ReturnType<typeof receiver.respond>) => {
    receiver.respond = () => behaviour;
    const response = await request({}, { keptBytes: 10, timeout: 5_000 });
    const { body, ...outcome } = response as typeof response & { body?: Buffer };
    return { ...outcome, headers: undefined, text: body?.toString() };
  };

  test.each([
    ['a success', behave.answer(200, {}, '0123456789 and more'), { kind: 'response', status: 200 }],
    ['a refusal', behave.answer(404, {}, '0123456789'.repeat(10_000)), { kind: 'response', status: 404 }],
    ['too large a success', behave.oversized(), { kind: 'failure', reason: 'body_too_large', status: 200 }],
    ['an endless success', behave.endlessBody(), { kind: 'failure', reason: 'body_too_large', status: 200 }],
    ['half of a success', behave.truncated(), { kind: 'failure', reason: 'connection', status: 200 }],
  ])('the first bytes of %s are kept, and its outcome is the same', async (_, behaviour, outcome) => {
    const kept = await keeping(behaviour);
    expect(kept).toMatchObject(outcome);
    expect(kept.text).toMatch(/^(?:0123456789|x{10})$/);
  });

  test.each([
    ['that ends too early', behave.raw('HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\nmoved')],
    ['that is longer than what is read', behave.raw(`HTTP/1.1 410 Gone\r\nContent-Length: 99999\r\n\r\nmoved`)],
  ])('a refusal %s is one, with what arrives within a second', async (_, behaviour) => {
    expect(await keeping(behaviour)).toMatchObject({ kind: 'response', status: 410, text: 'moved' });
  });

  test('a refusal whose body hangs is one when the time of the request is over', async () => {
    receiver.respond = () => behave.raw('HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\nmoved');
    expect(await request({}, { keptBytes: 10, timeout: 500 })).toMatchObject({ kind: 'response', status: 410 });
  });
});
