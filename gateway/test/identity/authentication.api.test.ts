import { afterAll, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import pg from 'pg';
import { generateToken } from '../../src/identity/domain/token.ts';
import { type GatewayHarness, openers, startGatewayHarness } from '../gateway-harness.ts';
import { memberOf } from '../members.ts';
import type { RawRequest } from '../send-raw.ts';

const { open: openGateway } = openers();

const PATH = '/api/v1/incidents';
let now: string | undefined;
const clock: Clock = { now: () => now ?? systemClock.now() };

const gateway = await startGatewayHarness({ overrides: { clock } });
afterAll(async () => gateway.close());

const statusOf = async (token: string | undefined) => (await gateway.send({ path: PATH, token })).status;

/** Creates a key and a user for it; tests may change the user. */
async function makeKey(options: { expires?: string } = {}) {
  const email = `${generateToken().slice(4, 14)}@example.com`;
  await gateway.admin.createUser({ workspace: 'acme', email, name: 'Somebody' });
  const key = { workspace: 'acme', user: email, name: 'k', scopes: ['incidents:read'], ...options };
  return { email, ...(await gateway.admin.createKey(key)) };
}

describe('a token', () => {
  test('is valid immediately', async () => {
    const { token } = await makeKey();
    expect(await statusOf(token)).toBe(200);
  });

  test.each([
    ['no header', undefined],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['nothing after the scheme', 'Bearer'],
    ['text without the form of a token', 'Bearer secret'],
    ['an unknown token', `Bearer ${generateToken()}`],
    ['two tokens', `Bearer ${generateToken()} ${generateToken()}`],
    ['a token with a wrong checksum', `Bearer ${generateToken().slice(0, -1)}!`],
  ])('%s is 401', async (_what, header) => {
    const response = await gateway.send({ path: PATH, headers: header === undefined ? {} : { Authorization: header } });
    expect([response.status, response.body.code]).toEqual([401, 'authentication_required']);
    expect(response.headers['www-authenticate']).toBe('Bearer');
    expect(response.text).not.toContain('tcs_');
  });

  test('the scheme is not case-sensitive', async () => {
    const { token } = await makeKey();
    expect((await gateway.send({ path: PATH, headers: { Authorization: `bearer ${token}` } })).status).toBe(200);
  });

  test('may be a password where alerts are sent, and nowhere else', async () => {
    const { token } = await makeKey();
    const statusAs = async (userAndPassword: string, path: string, method = 'POST') => {
      const Authorization = `Basic ${Buffer.from(userAndPassword).toString('base64')}`;
      return (await gateway.send({ path, method, headers: { Authorization } })).status;
    };
    for (const name of ['monitor', '']) expect(await statusAs(`${name}:${token}`, '/api/v1/alerts')).toBe(403);
    for (const wrong of [token, `${token}:`, `monitor:${token}x`, 'monitor:', `monitor:${generateToken()}`])
      expect([wrong, await statusAs(wrong, '/api/v1/alerts')]).toEqual([wrong, 401]);
    expect(await statusAs(`monitor:${token}`, '/api/v1/alerts', 'GET')).toBe(401);
    expect(await statusAs(`monitor:${token}`, PATH, 'GET')).toBe(401);
  });

  test('may be in the body where the protocol of another system has it there, and nowhere else', async () => {
    const token = await gateway.token({ scopes: ['alerts:write'] });
    const post = async (body: unknown, request: Partial<RawRequest> = {}) =>
      (await gateway.send({ method: 'POST', path: '/api/v1/alerts/enqueue', body, ...request })).status;
    expect(await post({ title: 'Down', key: token })).toBe(201);
    expect(gateway.lastReceived.body).toEqual({ title: 'Down', key: token });
    expect(await post({ title: 'x'.repeat(100_000), key: token }, { chunkSize: 10_000 })).toBe(201);
    expect(await post({ title: 'Down' }, { headers: { Authorization: `Bearer ${token}` } })).toBe(201);
    // A header comes first, and larger bodies need one.
    expect(await post({ title: 'Down', key: token }, { headers: { Authorization: 'Bearer other' } })).toBe(401);
    const large = { title: 'x'.repeat(600_000), key: token };
    for (const more of [{}, { chunkSize: 10_000 }]) expect(await post(large, more)).toBe(401);
    expect(await post(large, { headers: { Authorization: `Bearer ${token}` } })).toBe(201);

    const others = [generateToken(), `${token}x`, '', 7, null, { key: token }, [token]];
    for (const key of others) expect([key, await post({ title: 'Down', key })]).toEqual([key, 401]);
    for (const body of [{ payload: { key: token } }, [{ key: token }], token, `{"key":"${token}"`, '', undefined])
      expect([body, await post(body)]).toEqual([body, 401]);
    expect(await post({ title: 'Down', key: token }, { path: '/api/v1/alerts' })).toBe(401);
    await gateway.admin.createWorkspace({ slug: 'initech', name: 'Initech' });
    expect(await post({ title: 'Down', key: token }, { headers: { Host: 'initech.localhost' } })).toBe(401);
    const reader = await gateway.token({ scopes: ['incidents:read'] });
    expect(await post({ title: 'Down', key: reader })).toBe(403);
  });

  test('is not valid in another workspace', async () => {
    await gateway.admin.createWorkspace({ slug: 'globex', name: 'Globex' });
    const { token } = await makeKey();
    expect((await gateway.send({ path: PATH, token, host: 'globex.localhost' })).status).toBe(401);
    expect(await statusOf(token)).toBe(200);
  });

  test('is invalid after its expiry, even if it is cached', async () => {
    const expires = new Date(Date.now() + 60_000).toISOString();
    const { token, key } = await makeKey({ expires });
    expect(key.expiresAt).toBe(expires);
    expect(await statusOf(token)).toBe(200);
    now = expires;
    expect(await statusOf(token)).toBe(401);
    now = undefined;
    expect(await statusOf(token)).toBe(200);
  });
});

describe('running gateways apply changes at once', () => {
  test('a revocation', async () => {
    const { token, key } = await makeKey();
    expect(await statusOf(token)).toBe(200);
    await gateway.admin.revokeKey(key.id);
    await eventually(async () => (await statusOf(token)) === 401);
  });

  test('a rotation: the old token ends with the overlap, or at once', async () => {
    const { token, key } = await makeKey();
    expect(await statusOf(token)).toBe(200);
    const first = await gateway.admin.rotateKey({ id: key.id, overlap: 60_000 });
    expect([await statusOf(token), await statusOf(first.token)]).toEqual([200, 200]);
    await eventually(async () => {
      now = first.replaced.expiresAt ?? undefined;
      return (await statusOf(token)) === 401;
    });
    expect(await statusOf(first.token)).toBe(200);
    now = undefined;
    const second = await gateway.admin.rotateKey({ id: first.key.id, overlap: 0 });
    await eventually(async () => (await statusOf(first.token)) === 401);
    expect(await statusOf(second.token)).toBe(200);
  });

  test('deactivation and reactivation of an owner', async () => {
    const { token, email } = await makeKey();
    expect(await statusOf(token)).toBe(200);
    await gateway.admin.setUser({ workspace: 'acme', email, active: false });
    await eventually(async () => (await statusOf(token)) === 401);
    await gateway.admin.setUser({ workspace: 'acme', email, active: true });
    await eventually(async () => (await statusOf(token)) === 200);
  });

  test('a new seat and a new role', async () => {
    const { user, token } = await memberOf(gateway, { scopes: ['teams:write'] });
    const { email } = user;
    const code = async () =>
      (await gateway.send({ method: 'POST', path: '/api/v1/teams', body: { title: 'x' }, token })).body.code as unknown;
    expect(await code()).toBe('responder_seat_required');
    await gateway.admin.setUser({ workspace: 'acme', email, seat: 'responder' });
    await eventually(async () => (await code()) === 'missing_role_permission');
    await gateway.admin.setUser({ workspace: 'acme', email, role: 'manager' });
    await eventually(async () => (await code()) === undefined);
  });

  test("the workspace's settings and version in the principal", async () => {
    const { token } = await makeKey();
    await statusOf(token);
    const before = gateway.lastReceived.principal?.workspace.version ?? 0;
    const changed = await gateway.admin.setWorkspace({
      slug: 'acme',
      historyDays: 0.5,
      reportingCurrency: 'EUR',
      isDemo: true,
    });
    expect(changed.version).toBeGreaterThan(before);
    await eventually(async () => {
      await statusOf(token);
      return gateway.lastReceived.principal?.workspace.version === changed.version;
    });
    expect(gateway.lastReceived.principal?.workspace).toMatchObject({
      history_days: 0.5,
      reporting_currency: 'EUR',
      is_demo: true,
    });
    await gateway.admin.setWorkspace({ slug: 'acme', historyDays: null, reportingCurrency: 'USD', isDemo: false });
  });

  test('a new workspace', async () => {
    const { token } = await makeKey();
    const host = 'newcomer.localhost';
    expect((await gateway.send({ path: PATH, token, host })).status).toBe(404);
    await gateway.admin.createWorkspace({ slug: 'newcomer', name: 'New' });
    await eventually(async () => (await gateway.send({ path: PATH, token, host })).status === 401);
  });

  test('a revocation, in every gateway', async () => {
    const other = await openGateway({ database: gateway.database });
    const { token, key } = await makeKey();
    expect((await other.send({ path: PATH, token })).status).toBe(200);
    expect(await statusOf(token)).toBe(200);
    await gateway.admin.revokeKey(key.id);
    await eventually(async () => (await other.send({ path: PATH, token })).status === 401);
    await eventually(async () => (await statusOf(token)) === 401);
  });
});

describe('while change notices do not arrive', () => {
  /** Terminates the listening connection of a gateway repeatedly, as a broken network would. */
  async function withoutNotices({ database }: GatewayHarness, work: () => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    const cut = async () =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'tocsin-gateway-listener'`,
      );
    const over = new AbortController();
    const cutting = (async () => {
      while (!over.signal.aborted) {
        await cut();
        await delay(20, undefined, { signal: over.signal }).catch(() => undefined);
      }
    })();
    try {
      await work();
    } finally {
      over.abort();
      await cutting;
      await client.end();
    }
  }

  test('a revocation applies when the cached identity expires', async () => {
    await withoutNotices(gateway, async () => {
      const { token, key } = await makeKey();
      expect(await statusOf(token)).toBe(200);
      await gateway.admin.revokeKey(key.id);
      await eventually(async () => (await statusOf(token)) === 401);
    });
  });

  test('the gateway reconnects and clears its caches', async () => {
    // Only a notice or a reconnection removes what is cached.
    const identityAges = { version: 3_600_000, entry: 3_600_000 };
    const forgetful = await openGateway({ overrides: { identityAges } });
    const { bearer: token } = forgetful;
    const statusNow = async () => (await forgetful.send({ path: PATH, token })).status;
    await withoutNotices(forgetful, async () => {
      expect(await statusNow()).toBe(200);
      const [key] = await forgetful.admin.listKeys({ workspace: 'acme' });
      await forgetful.admin.revokeKey(key!.id);
    });
    await eventually(async () => (await statusNow()) === 401);
  });
});

test('concurrent first requests with one token succeed', async () => {
  const { token } = await makeKey();
  const statuses = await Promise.all(Array.from({ length: 30 }, async () => statusOf(token)));
  expect(new Set(statuses)).toEqual(new Set([200]));
});
