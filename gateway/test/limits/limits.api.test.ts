import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, tcpProxy, testServers } from '@tocsin/testing';
import { describeWithRedis } from '@tocsin/testing/suites';
import { generateToken } from '../../src/identity/domain/token.ts';
import { type GatewayHarness, openers, startGatewayHarness } from '../gateway-harness.ts';

const { open: openGateway } = openers();

const PATH = '/api/v1/incidents';

describe('the limit of a workspace', () => {
  let gateway: GatewayHarness;
  beforeAll(async () => {
    gateway = await startGatewayHarness({ env: { RATE_LIMIT_PER_MINUTE: '5', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '3' } });
  });
  afterAll(async () => gateway.close());

  test('is shared by its keys, counts every authenticated request, and is in every response', async () => {
    const [one, two] = [await gateway.token(), await gateway.token({ scopes: ['teams:read'] })];
    const responses = [
      await gateway.send({ path: PATH, token: one }),
      await gateway.send({ path: PATH, token: two }),
      await gateway.send({ path: '/api/v1/nowhere', token: one }),
      await gateway.send({ method: 'PUT', path: PATH, token: two }),
      await gateway.send({ path: `${PATH}/abc`, token: one }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 403, 404, 405, 400]);
    expect(responses.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['4', '3', '2', '1', '0']);
    for (const { headers } of responses) {
      expect(headers['x-ratelimit-limit']).toBe('5');
      expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(0);
      expect(Number(headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60);
    }

    const refused = await gateway.send({ path: PATH, token: one });
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

  test('is separate for each workspace, and can be set for a workspace', async () => {
    await gateway.admin.createWorkspace({ slug: 'globex', name: 'Globex', rateLimit: 2 });
    const email = 'a@globex.example';
    await gateway.admin.createUser({ workspace: 'globex', email, name: 'A' });
    const { token } = await gateway.admin.createKey({
      workspace: 'globex',
      user: email,
      name: 'k',
      scopes: ['incidents:read'],
    });
    const request = async () => gateway.send({ path: PATH, token, host: 'globex.localhost' });
    const first = await request();
    expect([first.status, first.headers['x-ratelimit-limit'], first.headers['x-ratelimit-remaining']]).toEqual([
      200,
      '2',
      '1',
    ]);
    await request();
    expect((await request()).status).toBe(429);
    await gateway.admin.setWorkspace({ slug: 'globex', rateLimit: 100 });
    await eventually(async () => (await request()).headers['x-ratelimit-limit'] === '100');
    await gateway.admin.setWorkspace({ slug: 'globex', rateLimit: null });
    await eventually(async () => (await request()).headers['x-ratelimit-limit'] === '5');
  });
});

describe('the limit of an address', () => {
  let gateway: GatewayHarness;
  beforeEach(async () => {
    gateway = await startGatewayHarness({
      env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '3', TRUSTED_PROXIES: '127.0.0.1' },
    });
  });
  afterEach(async () => gateway.close());

  test('applies to requests without a valid token, which get 429 instead of 401', async () => {
    const token = await gateway.token();
    const failed = [
      await gateway.send({ path: PATH }),
      await gateway.send({ path: '/api/v1/nowhere', token: generateToken() }),
      await gateway.send({ path: PATH, token: 'nonsense' }),
    ];
    expect(failed.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(failed.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['2', '1', '0']);
    expect(failed[0]?.headers['x-ratelimit-limit']).toBe('3');
    const refused = await gateway.send({ path: PATH });
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(refused.body.details.retry_after_seconds).toBe(Number(refused.headers['retry-after']));

    const valid = await gateway.send({ path: PATH, token });
    expect([valid.status, valid.headers['x-ratelimit-limit']]).toEqual([200, '1200']);
    expect((await gateway.send({ path: '/healthz' })).status).toBe(200);
    expect((await gateway.send({ path: '/docs' })).status).toBe(200);
  });

  test('applies to the address that a trusted proxy sends', async () => {
    const from = async (address: string) =>
      (await gateway.send({ path: PATH, headers: { 'X-Forwarded-For': address } })).headers['x-ratelimit-remaining'];
    expect(await from('203.0.113.1')).toBe('2');
    expect(await from('198.51.100.9, 203.0.113.1')).toBe('1');
    expect(await from('203.0.113.1, 127.0.0.1')).toBe('0');
    expect(await from('203.0.113.2')).toBe('2');
  });

  test('requests for the description are counted separately', async () => {
    const statuses = [];
    for (let count = 0; count < 4; count += 1)
      statuses.push((await gateway.send({ path: '/api/v1/openapi.json' })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await gateway.send({ path: PATH })).status).toBe(401);
  });
});

describe('without trusted proxies', () => {
  let gateway: GatewayHarness;
  beforeAll(async () => {
    gateway = await startGatewayHarness({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '50' } });
  });
  afterAll(async () => gateway.close());

  test('a client cannot choose the address that is counted', async () => {
    const from = async (address: string) =>
      Number(
        (await gateway.send({ path: PATH, headers: { 'X-Forwarded-For': address } })).headers['x-ratelimit-remaining'],
      );
    const first = await from('203.0.113.1');
    expect(await from('203.0.113.2')).toBe(first - 1);
  });

  test('a client can choose the workspace by the Host header only', async () => {
    const token = await gateway.token();
    const response = await gateway.send({
      path: PATH,
      token,
      host: 'localhost',
      headers: { 'X-Forwarded-Host': 'acme.localhost' },
    });
    expect(response.status).toBe(404);
  });
});

test('a trusted proxy sends the requested host', async () => {
  const gateway = await openGateway({ env: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  const token = await gateway.token();
  const statusFor = async (forwarded: string, host = 'gateway.internal') =>
    (await gateway.send({ path: PATH, token, host, headers: { 'X-Forwarded-Host': forwarded } })).status;
  expect(await statusFor('acme.localhost')).toBe(200);
  expect(await statusFor('other.example, ACME.localhost:8080')).toBe(200);
  expect(await statusFor('other.localhost', 'acme.localhost')).toBe(404);
  expect(await statusFor('', 'acme.localhost')).toBe(200);
});

describeWithRedis('counting in Redis', () => {
  const namespace = () => `gw${Math.random().toString(36).slice(2, 10)}`;
  const withRedis = async (env: Record<string, string>, database?: GatewayHarness['database']) =>
    startGatewayHarness({ env, withRedis: true, ...(database !== undefined && { database }) });

  /** Runs `work` with two gateways that count in Redis, and a token of theirs. */
  const withTwoGateways = async (
    settings: Record<string, string>,
    work: (gateways: { one: GatewayHarness; two: GatewayHarness; token: string }) => Promise<void>,
  ) => {
    const env = {
      REDIS_URL: testServers().redisUrl ?? '',
      TOCSIN_NAMESPACE: namespace(),
      ...settings,
    };
    const one = await withRedis(env);
    const two = await withRedis(env, one.database);
    try {
      await eventually(async () => {
        const dependencies = await Promise.all([one, two].map(async (gateway) => gateway.dependencies()));
        return dependencies.every(({ redis }) => redis === 'up');
      });
      await work({ one, two, token: await one.token() });
    } finally {
      await two.close();
      await one.close();
    }
  };

  test('two gateways count together', async () => {
    await withTwoGateways({ RATE_LIMIT_PER_MINUTE: '3' }, async ({ one, two, token }) => {
      const statuses = [];
      for (const gateway of [one, two, one, two]) statuses.push((await gateway.send({ path: PATH, token })).status);
      expect(statuses).toEqual([200, 200, 200, 429]);
    });
  });

  test('two gateways count together what they serve without waiting', async () => {
    await withTwoGateways({ RATE_LIMIT_PER_MINUTE: '10000' }, async ({ one, two, token }) => {
      const remaining = async (gateway: GatewayHarness) =>
        Number((await gateway.send({ path: PATH, token })).headers['x-ratelimit-remaining']);
      const alone = [];
      for (let count = 0; count < 30; count += 1) alone.push(await remaining(one));
      expect(alone).toEqual(alone.map((_, index) => 9_999 - index));
      for (let count = 0; count < 30; count += 1) await remaining(two);
      // Its own requests since then included.
      let sent = 0;
      await eventually(async () => {
        sent += 1;
        return (await remaining(one)) === 10_000 - 60 - sent;
      });
    });
  });

  test('two gateways count together what is written in an hour', async () => {
    await withTwoGateways({ MAX_WRITTEN_MB_PER_HOUR: '1' }, async ({ one, two, token }) => {
      const write = async (gateway: GatewayHarness) =>
        (await gateway.send({ method: 'POST', path: PATH, token, body: { title: 'x'.repeat(300_000) } })).status;
      expect([await write(one), await write(two), await write(one)]).toEqual([201, 201, 201]);
      await eventually(async () => (await write(two)) === 429);
      await eventually(async () => (await write(one)) === 429);
    });
  });

  test('requests do not wait for a Redis that hangs, and it counts again when it recovers', async () => {
    const redis = await tcpProxy(testServers().redisUrl ?? '');
    const gateway = await withRedis({
      REDIS_URL: redis.url,
      TOCSIN_NAMESPACE: namespace(),
      RATE_LIMIT_PER_MINUTE: '1000',
    });
    const REQUESTS = 200;
    try {
      await eventually(async () => (await gateway.dependencies())['redis'] === 'up');
      const token = await gateway.token();
      const remaining = async () => {
        const { status, headers } = await gateway.send({ path: PATH, token });
        expect(status).toBe(200);
        return Number(headers['x-ratelimit-remaining']);
      };
      const timeOfAll = async (send: () => Promise<unknown>) => {
        const start = performance.now();
        for (let count = 1; count <= REQUESTS; count += 1) await send();
        return performance.now() - start;
      };
      let before = 1_000;
      let isNextMinute = false;
      const counted = await timeOfAll(async () => {
        const left = await remaining();
        if (left >= before) {
          expect(isNextMinute).toBe(false);
          isNextMinute = true;
        }
        before = left;
      });
      redis.stall();
      const uncounted = await timeOfAll(remaining);
      // Each request would wait for 250 ms.
      expect(uncounted).toBeLessThan(10 * counted + REQUESTS * 125);
      redis.restore();
      // This process has counted all, and Redis hardly more than the first half.
      await eventually(async () => (await remaining()) > 1_000 - 2 * REQUESTS);
    } finally {
      await gateway.close();
      await redis.close();
    }
  });
});

describe('without Redis', () => {
  test('requests are served and counted, and /readyz shows that Redis is down', async () => {
    const gateway = await openGateway({
      env: { REDIS_URL: 'redis://127.0.0.1:9', RATE_LIMIT_PER_MINUTE: '2' },
      withRedis: true,
    });
    const token = await gateway.token();
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await gateway.send({ path: PATH, token })).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await gateway.send({ path: '/readyz' })).status).toBe(200);
    expect(await gateway.dependencies()).toEqual({ database: 'up', broker: 'up', redis: 'down' });
  });
});
