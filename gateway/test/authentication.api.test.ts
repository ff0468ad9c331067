import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import pg from 'pg';
import { generateToken } from '../src/domain/token.ts';
import { type House, openHouse } from './house.ts';

const PATH = '/api/v1/incidents';
let now: string | undefined;
const clock: Clock = { now: () => now ?? systemClock.now() };
let house: House;

beforeAll(async () => {
  house = await openHouse({ parts: { clock } });
});
afterAll(async () => house.close());

const statusOf = async (token: string | undefined) => (await house.say({ path: PATH, token })).status;

/** A key of a user of its own, by which it can be changed later. */
async function makeKey(options: { expires?: string } = {}) {
  const email = `${generateToken().slice(4, 14)}@example.com`;
  await house.admin.createUser({ workspace: 'acme', email, name: 'Somebody' });
  const key = { workspace: 'acme', user: email, name: 'k', scopes: ['incidents:read'], ...options };
  return { email, ...(await house.admin.createKey(key)) };
}

describe('a token', () => {
  test('is valid from the moment it is made', async () => {
    const { token } = await makeKey();
    expect(await statusOf(token)).toBe(200);
  });

  test.each([
    ['no header', undefined],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['nothing after the scheme', 'Bearer'],
    ['no token of ours', 'Bearer secret'],
    ['a token of ours that nobody made', `Bearer ${generateToken()}`],
    ['two tokens', `Bearer ${generateToken()} ${generateToken()}`],
    ['a token with a wrong checksum', `Bearer ${generateToken().slice(0, -1)}!`],
  ])('%s is 401', async (_what, header) => {
    const answer = await house.say({ path: PATH, headers: header === undefined ? {} : { Authorization: header } });
    expect([answer.status, answer.body.code]).toEqual([401, 'authentication_required']);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.text).not.toContain('tcs_');
  });

  test('the scheme is read in any case', async () => {
    const { token } = await makeKey();
    expect((await house.say({ path: PATH, headers: { Authorization: `bearer ${token}` } })).status).toBe(200);
  });

  test('of another workspace is no token here', async () => {
    await house.admin.createWorkspace({ slug: 'globex', name: 'Globex' });
    const { token } = await makeKey();
    expect((await house.say({ path: PATH, token, host: 'globex.localhost' })).status).toBe(401);
    expect(await statusOf(token)).toBe(200);
  });

  test('dies at its expiry, remembered or not', async () => {
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

describe('what is changed holds for the next request', () => {
  test('a revocation', async () => {
    const { token, key } = await makeKey();
    expect(await statusOf(token)).toBe(200);
    await house.admin.revokeKey(key.id);
    await eventually(async () => (await statusOf(token)) === 401);
  });

  test('a deactivated owner, who comes back', async () => {
    const { token, email } = await makeKey();
    expect(await statusOf(token)).toBe(200);
    await house.admin.setUser({ workspace: 'acme', email, active: false });
    await eventually(async () => (await statusOf(token)) === 401);
    await house.admin.setUser({ workspace: 'acme', email, active: true });
    expect(await statusOf(token)).toBe(200);
  });

  test('a seat and a role', async () => {
    const email = 'promoted@example.com';
    await house.admin.createUser({ workspace: 'acme', email, name: 'P' });
    const { token } = await house.admin.createKey({
      workspace: 'acme',
      user: email,
      name: 'k',
      scopes: ['teams:write'],
    });
    const code = async () =>
      (await house.say({ method: 'POST', path: '/api/v1/teams', body: { title: 'x' }, token })).body.code as unknown;
    expect(await code()).toBe('responder_seat_required');
    await house.admin.setUser({ workspace: 'acme', email, seat: 'responder' });
    await eventually(async () => (await code()) === 'missing_role_permission');
    await house.admin.setUser({ workspace: 'acme', email, role: 'manager' });
    await eventually(async () => (await code()) === undefined);
  });

  test("the workspace's settings and version, in the principal", async () => {
    const { token } = await makeKey();
    await statusOf(token);
    const before = house.seen.principal?.workspace.version ?? 0;
    const changed = await house.admin.setWorkspace({
      slug: 'acme',
      historyDays: 0.5,
      reportingCurrency: 'EUR',
      isDemo: true,
    });
    expect(changed.version).toBeGreaterThan(before);
    await eventually(async () => {
      await statusOf(token);
      return house.seen.principal?.workspace.version === changed.version;
    });
    expect(house.seen.principal?.workspace).toMatchObject({
      history_days: 0.5,
      reporting_currency: 'EUR',
      is_demo: true,
    });
    await house.admin.setWorkspace({ slug: 'acme', historyDays: null, reportingCurrency: 'USD', isDemo: false });
  });

  test('a workspace that is made now', async () => {
    const { token } = await makeKey();
    const host = 'newcomer.localhost';
    expect((await house.say({ path: PATH, token, host })).status).toBe(404);
    await house.admin.createWorkspace({ slug: 'newcomer', name: 'New' });
    expect((await house.say({ path: PATH, token, host })).status).toBe(401);
  });

  test('in every gateway at once', async () => {
    const other = await openHouse({ database: house.database });
    try {
      const { token, key } = await makeKey();
      expect((await other.say({ path: PATH, token })).status).toBe(200);
      expect(await statusOf(token)).toBe(200);
      await house.admin.revokeKey(key.id);
      await eventually(async () => (await other.say({ path: PATH, token })).status === 401);
      await eventually(async () => (await statusOf(token)) === 401);
    } finally {
      await other.close();
    }
  });
});

describe('while announcements do not arrive', () => {
  /** Ends the gateway's listening connection again and again, as a broken network would. */
  async function silence(work: () => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: house.database.adminUrl });
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

  test('a revocation is honoured all the same, when what is remembered is too old', async () => {
    await silence(async () => {
      const { token, key } = await makeKey();
      expect(await statusOf(token)).toBe(200);
      await house.admin.revokeKey(key.id);
      await eventually(async () => (await statusOf(token)) === 401);
    });
  });

  test('the gateway listens again by itself, and forgets what it may have missed', async () => {
    await silence(async () => undefined);
    await eventually(async () => {
      const { token, key } = await makeKey();
      expect(await statusOf(token)).toBe(200);
      await house.admin.revokeKey(key.id);
      // Sooner than what is remembered grows old.
      return eventually(async () => (await statusOf(token)) === 401, { within: 400 });
    });
  });
});

test('concurrent first requests of one token are one look-up', async () => {
  const { token } = await makeKey();
  const statuses = await Promise.all(Array.from({ length: 30 }, async () => statusOf(token)));
  expect(new Set(statuses)).toEqual(new Set([200]));
});
