import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually, testServers } from '@tocsin/testing';
import { describeWithRedis } from '@tocsin/testing/suites';
import { generateToken } from '../src/domain/token.ts';
import { type House, openHouse } from './house.ts';

const PATH = '/api/v1/incidents';

describe('the limit of a workspace', () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse({ env: { RATE_LIMIT_PER_MINUTE: '5', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '3' } });
  });
  afterAll(async () => house.close());

  test('is shared by its keys, counts every authenticated request, and is told in every answer', async () => {
    const [one, two] = [await house.token(), await house.token({ scopes: ['teams:read'] })];
    const answers = [
      await house.say({ path: PATH, token: one }),
      await house.say({ path: PATH, token: two }),
      await house.say({ path: '/api/v1/nowhere', token: one }),
      await house.say({ method: 'PUT', path: PATH, token: two }),
      await house.say({ path: `${PATH}/abc`, token: one }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 404, 405, 400]);
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['4', '3', '2', '1', '0']);
    for (const { headers } of answers) {
      expect(headers['x-ratelimit-limit']).toBe('5');
      expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(0);
      expect(Number(headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60);
    }

    const refused = await house.say({ path: PATH, token: one });
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(refused.body).toMatchObject({ code: 'rate_limited', details: { retry_after_seconds: seconds } });
    expect(refused.headers).toMatchObject({
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(seconds),
    });
  });

  test('is another one for another workspace, and can be its own', async () => {
    await house.admin.createWorkspace({ slug: 'globex', name: 'Globex', rateLimit: 2 });
    const email = 'a@globex.example';
    await house.admin.createUser({ workspace: 'globex', email, name: 'A' });
    const { token } = await house.admin.createKey({
      workspace: 'globex',
      user: email,
      name: 'k',
      scopes: ['incidents:read'],
    });
    const say = async () => house.say({ path: PATH, token, host: 'globex.localhost' });
    const first = await say();
    expect([first.status, first.headers['x-ratelimit-limit'], first.headers['x-ratelimit-remaining']]).toEqual([
      200,
      '2',
      '1',
    ]);
    await say();
    expect((await say()).status).toBe(429);
    await house.admin.setWorkspace({ slug: 'globex', rateLimit: 100 });
    await eventually(async () => (await say()).headers['x-ratelimit-limit'] === '100');
    await house.admin.setWorkspace({ slug: 'globex', rateLimit: null });
    await eventually(async () => (await say()).headers['x-ratelimit-limit'] === '5');
  });
});

describe('the limit of an address', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '3', TRUSTED_PROXIES: '127.0.0.1' } });
  });
  afterEach(async () => house.close());

  test('is for requests without a valid token, and turns 401 into 429', async () => {
    const token = await house.token();
    const failed = [
      await house.say({ path: PATH }),
      await house.say({ path: '/api/v1/nowhere', token: generateToken() }),
      await house.say({ path: PATH, token: 'nonsense' }),
    ];
    expect(failed.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(failed.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['2', '1', '0']);
    expect(failed[0]?.headers['x-ratelimit-limit']).toBe('3');
    const refused = await house.say({ path: PATH });
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(refused.body.details.retry_after_seconds).toBe(Number(refused.headers['retry-after']));

    const valid = await house.say({ path: PATH, token });
    expect([valid.status, valid.headers['x-ratelimit-limit']]).toEqual([200, '1200']);
    expect((await house.say({ path: '/healthz' })).status).toBe(200);
    expect((await house.say({ path: '/docs' })).status).toBe(200);
  });

  test('is counted by the address that a trusted proxy names', async () => {
    const from = async (address: string) =>
      (await house.say({ path: PATH, headers: { 'X-Forwarded-For': address } })).headers['x-ratelimit-remaining'];
    expect(await from('203.0.113.1')).toBe('2');
    expect(await from('198.51.100.9, 203.0.113.1')).toBe('1');
    expect(await from('203.0.113.1, 127.0.0.1')).toBe('0');
    expect(await from('203.0.113.2')).toBe('2');
  });

  test('whoever reads the description has a budget of its own', async () => {
    const statuses = [];
    for (let count = 0; count < 4; count += 1)
      statuses.push((await house.say({ path: '/api/v1/openapi.json' })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await house.say({ path: PATH })).status).toBe(401);
  });
});

describe('without trusted proxies', () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '50' } });
  });
  afterAll(async () => house.close());

  test('nobody chooses the address that is counted', async () => {
    const from = async (address: string) =>
      Number(
        (await house.say({ path: PATH, headers: { 'X-Forwarded-For': address } })).headers['x-ratelimit-remaining'],
      );
    const first = await from('203.0.113.1');
    expect(await from('203.0.113.2')).toBe(first - 1);
  });

  test('nobody chooses the workspace but by the host', async () => {
    const token = await house.token();
    const answer = await house.say({
      path: PATH,
      token,
      host: 'localhost',
      headers: { 'X-Forwarded-Host': 'acme.localhost' },
    });
    expect(answer.status).toBe(404);
  });
});

test('a trusted proxy says which host was asked for', async () => {
  const house = await openHouse({ env: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  try {
    const token = await house.token();
    const at = async (forwarded: string, host = 'gateway.internal') =>
      (await house.say({ path: PATH, token, host, headers: { 'X-Forwarded-Host': forwarded } })).status;
    expect(await at('acme.localhost')).toBe(200);
    expect(await at('other.example, ACME.localhost:8080')).toBe(200);
    expect(await at('other.localhost', 'acme.localhost')).toBe(404);
    expect(await at('', 'acme.localhost')).toBe(200);
  } finally {
    await house.close();
  }
});

describeWithRedis('counting in Redis', () => {
  const namespace = () => `gw${Math.random().toString(36).slice(2, 10)}`;
  const withRedis = async (env: Record<string, string>, database?: House['database']) =>
    openHouse({ env, withRedis: true, ...(database !== undefined && { database }) });

  test('two gateways count together', async () => {
    const env = { REDIS_URL: testServers().redisUrl ?? '', TOCSIN_NAMESPACE: namespace(), RATE_LIMIT_PER_MINUTE: '3' };
    const one = await withRedis(env);
    const two = await withRedis(env, one.database);
    try {
      await eventually(async () => {
        const ready = await Promise.all([one, two].map(async (house) => house.say({ path: '/readyz' })));
        return ready.every(({ body }) => body.dependencies.redis === 'up');
      });
      const token = await one.token();
      const statuses = [];
      for (const house of [one, two, one, two]) statuses.push((await house.say({ path: PATH, token })).status);
      expect(statuses).toEqual([200, 200, 200, 429]);
    } finally {
      await two.close();
      await one.close();
    }
  });

  test('a Redis that freezes costs a moment, and counts again when it thaws', async () => {
    const redis = await frozenAtWill(testServers().redisUrl ?? '');
    const house = await withRedis({
      REDIS_URL: redis.url,
      TOCSIN_NAMESPACE: namespace(),
      RATE_LIMIT_PER_MINUTE: '1000',
    });
    try {
      await eventually(async () => (await house.say({ path: '/readyz' })).body.dependencies.redis === 'up');
      const token = await house.token();
      const remaining = async () => {
        const { status, headers } = await house.say({ path: PATH, token });
        expect(status).toBe(200);
        return Number(headers['x-ratelimit-remaining']);
      };
      for (let count = 1; count <= 10; count += 1) expect(await remaining()).toBe(1_000 - count);
      redis.freeze();
      for (let count = 1; count <= 40; count += 1) await remaining();
      redis.thaw();
      // This process alone has counted 40; Redis hardly more than 10.
      await eventually(async () => (await remaining()) > 960);
    } finally {
      await house.close();
      redis.close();
    }
    // 40 requests that each wait for Redis to answer would take longer.
  }, 10_000);
});

describe('without Redis', () => {
  test('requests are served and counted, and readiness says what is missing', async () => {
    const house = await openHouse({
      env: { REDIS_URL: 'redis://127.0.0.1:9', RATE_LIMIT_PER_MINUTE: '2' },
      withRedis: true,
    });
    try {
      const token = await house.token();
      const statuses = [];
      for (let count = 0; count < 3; count += 1) statuses.push((await house.say({ path: PATH, token })).status);
      expect(statuses).toEqual([200, 200, 429]);
      const ready = await house.say({ path: '/readyz' });
      expect([ready.status, ready.body.dependencies]).toEqual([200, { database: 'up', broker: 'up', redis: 'down' }]);
    } finally {
      await house.close();
    }
  });
});

/** Leads to a real server, and can be made to say nothing without hanging up. */
async function frozenAtWill(server: string) {
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  const relay = createServer((socket) => {
    const onward = connect({ host: hostname, port: Number(port) });
    for (const side of [socket, onward]) {
      sockets.add(side);
      side.on('error', () => undefined);
    }
    socket.pipe(onward).pipe(socket);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  relay.listen(0, '127.0.0.1', resolve);
  await promise;
  return {
    url: `redis://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    freeze: () => sockets.forEach((socket) => socket.pause()),
    thaw: () => sockets.forEach((socket) => socket.resume()),
    close: () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
}
