import { once } from 'node:events';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, eventually, type TcpProxy, tcpProxy, type TestDatabase } from '@tocsin/testing';
import { schema } from '../../src/schema.ts';
import { generateToken } from '../../src/identity/domain/token.ts';
import { type GatewayHarness, openers, startGatewayHarness } from '../gateway-harness.ts';
import { beginSession } from '../members.ts';
import type { RawResponse } from '../send-raw.ts';

const PATH = '/api/v1/incidents';
const LIMIT = 5;
const JSON_TYPE = 'application/json; charset=utf-8';

async function connect(url: string): Promise<net.Socket> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  return socket.on('error', () => undefined);
}

describe('an address that has used up its requests without a valid token', () => {
  let gateway: GatewayHarness;
  beforeEach(async () => {
    gateway = await startGatewayHarness({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: String(LIMIT) } });
  });
  afterEach(async () => gateway.close());

  /** A response without the parts that differ between any two responses. */
  const comparable = ({ status, headers, body }: RawResponse) => {
    const { date: _, 'x-request-id': __, ...rest } = headers;
    return { status, headers: rest, body: { ...body, request_id: '' } };
  };

  test('unknown hosts are counted, and the responses have the limit headers', async () => {
    const responses = [];
    for (let count = 0; count <= LIMIT; count += 1) {
      responses.push(await gateway.send({ path: PATH, host: count % 2 === 0 ? `no-${count}.localhost` : 'localhost' }));
    }
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429]);
    expect(responses.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['4', '3', '2', '1', '0', '0']);
    expect((await gateway.send({ path: PATH })).status).toBe(429);
  });

  test('gets the same response for existing and unknown workspaces, whatever it sends', async () => {
    const token = await gateway.token();
    for (let count = 0; count < LIMIT; count += 1) await gateway.send({ path: PATH });
    const huge = { 'Content-Length': 1_048_577 };
    for (const request of [
      { path: PATH },
      { path: PATH, token: generateToken() },
      { path: PATH, token: 'nonsense' },
      { path: '/api/v1/nowhere', method: 'PUT' },
      { path: PATH, method: 'POST', headers: huge },
    ]) {
      const existing = await gateway.send({ ...request, host: 'acme.localhost' });
      const [unknown, bare] = [
        await gateway.send({ ...request, host: 'unknown.localhost' }),
        await gateway.send({ ...request, host: 'localhost' }),
      ].map(comparable);
      // A new second may have begun in between.
      const seconds = existing.headers['x-ratelimit-reset'];
      expect(existing.status).toBe(429);
      if (unknown?.headers['x-ratelimit-reset'] === seconds) expect(unknown).toEqual(comparable(existing));
      expect([unknown?.status, bare?.status]).toEqual([429, 429]);
      expect(unknown?.body).toMatchObject({ code: 'rate_limited', message: existing.body.message });
    }

    // A valid token still works from this address, in its own workspace.
    expect((await gateway.send({ path: PATH, token })).status).toBe(200);
    expect((await gateway.send({ path: PATH, token, host: 'unknown.localhost' })).status).toBe(429);
    expect((await gateway.send({ path: PATH, method: 'POST', token, headers: huge })).status).toBe(413);
    expect((await gateway.send({ path: PATH, token: await gateway.token() })).status).toBe(200);
  });
});

describe('a body that may have the token', () => {
  const { open } = openers();
  const enqueue = { method: 'POST', path: '/api/v1/alerts/enqueue' };

  test('counts for its address unless it has one', async () => {
    const gateway = await open({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: String(LIMIT) } });
    const send = async (key: unknown) => (await gateway.send({ ...enqueue, body: { title: 'Down', key } })).status;
    const token = await gateway.token({ scopes: ['alerts:write'] });
    const statuses: number[] = [];
    for (let count = 0; count <= LIMIT; count += 1) statuses.push(await send(generateToken()), await send(token));
    expect(statuses).toEqual([401, 201, 401, 201, 401, 201, 401, 201, 401, 201, 429, 201]);
  });

  test('that does not arrive is given up, and counts, too', async () => {
    const gateway = await open({
      env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '2' },
      shares: { body: { deadline: 200, progress: 100 } },
    });
    const statusOf = async () => {
      const socket = await connect(gateway.app.url);
      socket.write(`POST ${enqueue.path} HTTP/1.1\r\nHost: acme.localhost\r\nContent-Length: 100\r\n\r\n{"key":`);
      const [head] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return Number(/^HTTP\/1.1 (\d+)/.exec(String(head))?.[1]);
    };
    expect([await statusOf(), await statusOf(), await statusOf()]).toEqual([408, 408, 429]);
  });

  test('of many unfinished requests takes no memory from others', async () => {
    const gateway = await open({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000' } });
    const token = await gateway.token({ scopes: ['alerts:write'] });
    const part = 'x'.repeat(500_000);
    const sockets = await Promise.all(Array.from({ length: 40 }, async () => connect(gateway.app.url)));
    const refused = sockets.map(async (socket) => {
      socket.write(
        `POST ${enqueue.path} HTTP/1.1\r\nHost: acme.localhost\r\nContent-Length: 510000\r\n\r\n{"title":"${part}`,
      );
      return String((await once(socket, 'data'))[0]);
    });
    // One address holds at most half of this memory.
    expect(await Promise.race(refused)).toMatch(/^HTTP\/1.1 429 .*of this network/s);
    const body = { title: 'Down' };
    expect((await gateway.send({ ...enqueue, body, token })).status).toBe(201);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await gateway.send({ ...enqueue, body: { ...body, key: token } })).status === 201);
  });
});

describe('the pages', () => {
  let gateway: GatewayHarness;
  beforeEach(async () => {
    gateway = await startGatewayHarness({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: String(LIMIT) } });
  });
  afterEach(async () => gateway.close());
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    gateway.send({ method, path, headers });
  const statusesOf = async (count: number, send: () => Promise<RawResponse>) => {
    const statuses: number[] = [];
    for (let sent = 0; sent < count; sent += 1) statuses.push((await send()).status);
    return statuses;
  };
  const allOf = (count: number, status: number) => Array.from({ length: count }, () => status);

  test('do not count the files that browsers keep, unless they have to be decompressed', async () => {
    const { text } = await get('/docs');
    const [file = ''] = /\/docs\/assets\/style[^"]+/.exec(text) ?? [];
    const browser = { 'Accept-Encoding': 'gzip, br' };
    expect(await statusesOf(3 * LIMIT, async () => get(file, browser))).toEqual(allOf(3 * LIMIT, 200));
    expect(await statusesOf(LIMIT, async () => get(file))).toEqual([...allOf(LIMIT - 1, 200), 429]);
    expect((await get('/docs')).status).toBe(429);
    expect((await get(file, browser)).status).toBe(200);
  });

  test('count for the workspace of a valid token or session, and for the address without one', async () => {
    const token = await gateway.token();
    await gateway.admin.createUser({ workspace: 'acme', email: 'ana@acme.example', name: 'Ana' });
    const { cookie } = await beginSession(gateway, 'ana@acme.example');
    for (const headers of [{ Authorization: `Bearer ${token}` }, { Cookie: cookie }]) {
      expect(await statusesOf(2 * LIMIT, async () => get('/docs', headers))).toEqual(allOf(2 * LIMIT, 200));
      expect((await get('/docs', headers)).headers['x-ratelimit-limit']).toBe('1200');
    }
    const others = { Authorization: `Bearer ${generateToken()}` };
    expect(await statusesOf(LIMIT + 1, async () => get('/docs', others))).toEqual([...allOf(LIMIT, 200), 429]);
    expect((await get('/docs', { Cookie: cookie })).status).toBe(200);
    await gateway.admin.setWorkspace({ slug: 'acme', rateLimit: 1 });
    await eventually(async () => (await get('/docs', { Cookie: cookie })).status === 429);
  });

  test('of other sites load nothing, and use nothing up', async () => {
    const foreign = (destination: string) => ({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': destination });
    for (const destination of ['image', 'script', 'iframe', 'empty']) {
      for (const path of ['/docs', '/app/', '/app/session', '/app/oidc', PATH, '/healthz']) {
        const { status, body } = await get(path, { ...foreign(destination), Accept: '*/*' });
        expect([path, status, body.code]).toEqual([path, 403, 'permission_denied']);
      }
    }
    expect((await get('/docs', { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'empty' })).status).toBe(200);
    expect((await get('/docs', foreign('document'))).status).toBe(200);
    expect((await get('/docs')).headers['x-ratelimit-remaining']).toBe(String(LIMIT - 3));
    expect((await get('/app/oidc', foreign('document'))).headers['x-ratelimit-remaining']).toBe(String(LIMIT - 1));
    // Only its own program knows a token.
    const own = { ...foreign('empty'), Authorization: `Bearer ${await gateway.token()}` };
    expect((await get(PATH, own)).status).toBe(200);
  });

  test('that are refused are pages for people, and JSON for programs', async () => {
    const person = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    await statusesOf(LIMIT, async () => get('/docs'));
    const page = await get('/docs', { ...person, 'X-Request-ID': '<script>alert(1)</script>' });
    expect([page.status, page.headers['content-type']]).toEqual([429, 'text/html; charset=utf-8']);
    expect(Number(page.headers['retry-after'])).toBeGreaterThan(0);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.text).toContain(`Try again in ${page.headers['retry-after']} seconds`);
    expect(page.text).toContain('&lt;script&gt;');
    expect(page.text).not.toContain('<script>');
    expect((await get('/docs', person, 'HEAD')).text).toBe('');
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
      const { headers, body } = await get('/docs', { Accept: accept });
      expect([headers['content-type'], body.code]).toEqual([JSON_TYPE, 'rate_limited']);
    }
    await statusesOf(LIMIT, async () => get(PATH));
    for (const path of ['/app/oidc', '/app/oidc/callback?code=x']) {
      expect((await get(path, person)).text).toContain('Too many requests');
    }
    expect((await get(PATH, person)).body.code).toBe('rate_limited');
  });
});

describe('the database load of unauthenticated requests', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let sent = '';
  /** How often a text was sent. The name of a statement is sent with each use, and when a connection prepares it. */
  const count = (text: string) => sent.split(text).length - 1;
  let gateway: GatewayHarness;
  beforeAll(async () => {
    database = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
    proxy = await tcpProxy(database.url(schema.name), (bytes) => (sent += bytes.toString('latin1')));
    gateway = await startGatewayHarness({
      database: { ...database, url: () => proxy.url },
      env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: String(LIMIT), DATABASE_POOL_SIZE: '10' },
    });
    await gateway.admin.createWorkspace({ slug: 'acme', name: 'Acme' });
  });
  afterAll(async () => {
    await gateway.close();
    await proxy.close();
    await database.drop();
  });

  test('a flood of well-formed tokens causes few queries, and a valid token works meanwhile', async () => {
    const token = await gateway.token();
    const before = count('find-identit');
    const start = performance.now();
    const flood = Promise.all(
      Array.from({ length: 600 }, async () => gateway.send({ path: PATH, token: generateToken() })),
    );
    expect((await gateway.send({ path: PATH, token })).status).toBe(200);
    const statuses = (await flood).map(({ status }) => status);
    // Twice the limit, if a new minute has begun.
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(2 * LIMIT);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(600 - 2 * LIMIT);
    // Four at a time, ten times a second, so the bound grows with the duration.
    const maxQueries = 4 * (2 + (performance.now() - start) / 100);
    expect(count('find-identit') - before).toBeLessThanOrEqual(maxQueries);
  });

  test('requests with the same wrong token cause one query', async () => {
    const wrong = generateToken();
    const before = count('find-identit');
    const start = performance.now();
    for (let times = 0; times < 50; times += 1) await gateway.send({ path: PATH, token: wrong });
    // The miss is cached for 30 seconds.
    expect(count('find-identit') - before).toBeLessThanOrEqual(1 + (performance.now() - start) / 30_000);
  });

  test('unknown hosts are looked up only while the address has requests left', async () => {
    // Uses up the requests that the tests above have left.
    await eventually(async () => (await gateway.send({ path: PATH })).status === 429);
    const before = count('find-workspace');
    const responses = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => gateway.send({ path: PATH, host: `host-${index}.localhost` })),
    );
    const lookedUp = responses.filter(({ status }) => status === 404).length;
    expect(lookedUp).toBeLessThanOrEqual(2 * LIMIT);
    expect(count('find-workspace') - before).toBeLessThanOrEqual(lookedUp);
  });

  test('readiness is checked at most once a second', async () => {
    const before = count('select 1');
    const start = performance.now();
    const responses = await Promise.all(Array.from({ length: 100 }, async () => gateway.send({ path: '/readyz' })));
    expect(new Set(responses.map(({ text }) => text))).toEqual(new Set(['{"status":"ready"}']));
    expect(count('select 1') - before).toBeLessThanOrEqual(1 + (performance.now() - start) / 1_000);
    expect(count('select 1')).toBeGreaterThan(0);
  });
});
