import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { behave, eventually, type Receiver, startReceiver } from '@tocsin/testing';
import { safeHttp, type SafeHttpOptions, type SafeRequest } from '../src/index.ts';

const NAME = 'receiver.example';

let receiver: Receiver;
beforeAll(async () => void (receiver = await startReceiver({ names: [NAME, '127.0.0.1'] })));
afterAll(async () => receiver.stop());
// Whatever happened, no connection is left.
afterEach(async () =>
  eventually(() => receiver.connections === 0, { what: 'the end of all connections', within: 3_000 }),
);
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
  test('goes to the address with the name of the URL', async () => {
    receiver.respond = () => behave.answer(200, { 'X-Answer': 'a' }, 'done');
    const answer = await request();
    expect(answer).toMatchObject({ kind: 'answer', status: 200, headers: { 'x-answer': 'a' } });
    expect(answer.kind === 'answer' && answer.body.toString()).toBe('done');
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

  test('may go to an address itself, if the certificate is for it', async () => {
    const resolve = async () => Promise.reject(new Error('there is nothing to look up'));
    expect(await request({ resolve }, { url: receiver.url('/', '127.0.0.1') })).toMatchObject({ status: 204 });
  });

  test('may be a GET without a body', async () => {
    const prepare = async () => ({ headers: {} });
    expect(await request({}, { method: 'GET', prepare })).toMatchObject({ status: 204 });
    expect(receiver.requests).toMatchObject([{ method: 'GET', body: '' }]);
  });

  test('is called off before a byte is sent', async () => {
    const addresses: string[] = [];
    const prepare = async (address: string) => void addresses.push(address);
    expect(await request({}, { prepare: async (address) => prepare(address).then(() => undefined) })).toEqual({
      kind: 'called_off',
    });
    expect({ addresses, requests: receiver.requests }).toEqual({ addresses: ['127.0.0.1'], requests: [] });
  });
});

describe('addresses', () => {
  const allows = (address: string) => address === '127.0.0.1';

  test.each([
    ['one that is refused', ['10.0.0.1']],
    ['one among others', ['127.0.0.1', '10.0.0.1']],
    ['one in the other family', ['127.0.0.1', 'fd00::1']],
    ['one in disguise', ['127.0.0.1', '::ffff:10.0.0.1']],
  ])('%s: nothing is sent', async (_what, addresses) => {
    const prepare = async () => Promise.reject(new Error('must not be asked'));
    expect(await request({ allows, resolve: async () => addresses }, { prepare })).toEqual({
      kind: 'fault',
      reason: 'blocked_address',
      ours: false,
    });
  });

  test('IPv4 in IPv6 is judged, and connected to, as what it is', async () => {
    expect(await request({ allows, resolve: async () => ['::ffff:127.0.0.1'] })).toMatchObject({ status: 204 });
  });

  test('a literal is judged as well', async () => {
    const answer = await request({ allows: () => false }, { url: receiver.url('/', '127.0.0.1') });
    expect(answer).toMatchObject({ kind: 'fault', reason: 'blocked_address' });
  });

  test('are judged for the host and port of the URL', async () => {
    const seen: string[] = [];
    await request({ allows: (address, hostAndPort) => void seen.push(address, hostAndPort) !== undefined });
    await request(
      { allows: (address, hostAndPort) => void seen.push(address, hostAndPort) !== undefined },
      { url: `https://${NAME}/` },
    );
    expect(seen).toEqual(['127.0.0.1', `${NAME}:${receiver.port}`, '127.0.0.1', `${NAME}:443`]);
  });

  test('a name is looked up once: a second answer would never be seen', async () => {
    let lookUps = 0;
    const resolve = async () => [(lookUps += 1) === 1 ? '127.0.0.1' : '10.0.0.1'];
    expect(await request({ allows, resolve })).toMatchObject({ status: 204 });
    expect(lookUps).toBe(1);
  });

  test.each([
    ['no address', async () => [], false],
    ['something that is no address', async () => ['other.example'], false],
    ['that there is no such name', async () => Promise.reject(withCode('ENOTFOUND')), false],
    ['that it cannot say', async () => Promise.reject(withCode('ESERVFAIL')), true],
    ['nothing for too long', async () => Promise.withResolvers<string[]>().promise, true],
  ])('a name server that answers %s', async (_what, resolve, ours) => {
    expect(await request({ resolve }, { timeout: 300 })).toEqual({ kind: 'fault', reason: 'dns', ours });
  });
});

describe('what goes wrong before an answer', () => {
  test.each([
    ['garbage', 'tls'],
    ['plain', 'tls'],
    ['close', 'tls'],
  ] as const)('a handshake that is %s', async (handshake, reason) => {
    receiver.handshake = handshake;
    expect(await request()).toEqual({ kind: 'fault', reason, ours: false });
    expect(receiver.requests).toEqual([]);
  });

  test('a certificate that nobody vouches for', async () => {
    expect(await request({ ca: undefined })).toEqual({ kind: 'fault', reason: 'tls', ours: false });
  });

  test('a certificate for another name', async () => {
    expect(await request({}, { url: receiver.url('/', 'other.example') })).toEqual({
      kind: 'fault',
      reason: 'tls',
      ours: false,
    });
  });

  test('a port where nobody listens', async () => {
    const gone = await startReceiver({ names: [NAME] });
    await gone.stop();
    expect(await request({}, { url: gone.url('/', NAME) })).toEqual({
      kind: 'fault',
      reason: 'connection',
      ours: false,
    });
  });

  test('a network that is not there is our own fault', async () => {
    // No route leads a connection to the broadcast address.
    const answer = await request({ resolve: async () => ['255.255.255.255'] });
    expect(answer).toEqual({ kind: 'fault', reason: 'connection', ours: true });
  });
});

describe('what goes wrong with an answer', () => {
  const fault = (reason: string, status?: number) => ({
    kind: 'fault',
    reason,
    ours: false,
    ...(status !== undefined && { status }),
  });

  test.each([
    ['none', behave.hang(), fault('timeout')],
    ['none, and the connection closed', behave.close(), fault('connection')],
    ['headers without end', behave.slowHeaders(), fault('timeout')],
    ['a body that is announced as too large', behave.slowBody(), fault('body_too_large', 200)],
    ['a body that is too large', behave.oversized(1_001), fault('body_too_large', 200)],
    ['a body that never ends', behave.endlessBody(), fault('body_too_large', 200)],
    ['a body that is cut short', behave.truncated(), fault('connection', 200)],
    ['a megabyte of headers', behave.hugeHeaders(), fault('connection')],
    ['interim answers without end', behave.interimFlood(), fault('connection')],
    ['something else than HTTP', behave.garbage(), fault('connection')],
  ])('%s', async (_what, behaviour, expected) => {
    receiver.respond = () => behaviour;
    expect(await request()).toEqual(expected);
  });

  test('a body that drips is cut off at the deadline', async () => {
    receiver.respond = () => behave.slowBody();
    expect(await request({}, { maxBodyBytes: 65_536, timeout: 500 })).toEqual(fault('timeout', 200));
  });

  test('exactly as large as allowed is not too large', async () => {
    receiver.respond = () => behave.oversized(1_000);
    expect(await request()).toMatchObject({ kind: 'answer', status: 200 });
  });

  test('a compressed body counts as it comes: it is not opened', async () => {
    receiver.respond = () => behave.compressed(100_000);
    const answer = await request();
    expect(answer).toMatchObject({ kind: 'answer', status: 200, headers: { 'content-encoding': 'gzip' } });
    expect(answer.kind === 'answer' && answer.body.length).toBeLessThan(1_000);
  });

  test('another protocol is an answer like any other', async () => {
    receiver.respond = () => behave.switching();
    expect(await request()).toMatchObject({ kind: 'answer', status: 101 });
  });

  test('a redirect is not followed', async () => {
    receiver.respond = () => behave.answer(302, { Location: receiver.url('/elsewhere', NAME) });
    expect(await request()).toMatchObject({ kind: 'answer', status: 302 });
    expect(receiver.requests).toHaveLength(1);
  });

  test('a refusal is one by its status, whatever its body does', async () => {
    receiver.respond = () => behave.answer(503, { 'Retry-After': '9', 'Content-Length': '5000' }, 'short');
    expect(await request()).toMatchObject({ kind: 'answer', status: 503, headers: { 'retry-after': '9' } });
  });
});

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}
