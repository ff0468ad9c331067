import { afterAll, describe, expect, test } from '@jest/globals';
import { SCOPES } from '@tocsin/schemas';
import { addMilliseconds } from '@tocsin/runtime';
import { eventually, httpClient } from '@tocsin/testing';
import { setImmediate as turn } from 'node:timers/promises';
import { generateToken } from '../../src/identity/domain/token.ts';
import { openers, startGatewayHarness } from '../gateway-harness.ts';
import { at, beginSession, KEYS, type Member, memberOf, USERS } from '../members.ts';

const { open: openGateway } = openers();

const SESSIONS = '/api/v1/settings/sessions';
const INCIDENTS = '/api/v1/incidents';
const HOUR = 3_600_000;

let now = Date.parse('2026-11-24T09:00:00.000Z');
const clock = { now: () => new Date(now).toISOString() };

const env = { RATE_LIMIT_PER_MINUTE: '100000', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000' };
// An identity is looked up again for each request.
const gateway = await startGatewayHarness({ env, overrides: { clock, identityAges: { version: 0, entry: 0 } } });
await gateway.admin.createWorkspace({ slug: 'other', name: 'Other' });
const owner = await memberOf(gateway, { role: 'owner', seat: 'responder' });
const member = await memberOf(gateway, { seat: 'responder' });
afterAll(async () => gateway.close());

const begin = async ({ user }: Member = owner) => beginSession(gateway, user.email);
const sessionsOf = async ({ client }: Pick<Member, 'client'>) =>
  (await client.get(SESSIONS)).body.sessions as { id: number; user_id: number; current: boolean }[];
/** Links are valid by the real time: the command makes them. */
const inRealTime = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const before = now;
  now = Date.now();
  try {
    return await work();
  } finally {
    now = before;
  }
};

const open = async (token: string, headers: Record<string, string> = {}) =>
  httpClient(gateway.app.url, { Host: 'acme.localhost', 'Sec-Fetch-Site': 'same-origin' }).post(
    '/app/session',
    undefined,
    { Authorization: `Bearer ${token}`, ...headers },
  );
const linkFor = async (email = owner.user.email) =>
  (await gateway.admin.createLoginLink({ workspace: 'acme', email })).token;

describe('a session', () => {
  test('acts as its user with every scope, and is its key in /me and in the list', async () => {
    const { client, id, cookie } = await begin();
    expect(cookie).toMatch(/^tocsin=tcn_[0-9A-Za-z]{49}$/);
    const { body } = await client.get('/api/v1/me');
    expect(body).toMatchObject({ user: { email: owner.user.email, role: 'owner' }, api_key: { id } });
    expect(body.api_key.scopes).toEqual(SCOPES);
    const [session] = (await sessionsOf({ client })).filter((each) => each.id === id);
    expect(session).toMatchObject({ name: 'Firefox on Linux', user_id: owner.user.id, current: true });
    expect((await client.post(INCIDENTS, { title: 'x' })).status).toBe(201);
    expect(gateway.lastReceived.headers?.['cookie']).toBeUndefined();
    // Keys and sessions are apart.
    expect((await client.get(`${KEYS}/${id}`)).status).toBe(404);
    expect((await client.post(`${KEYS}/${id}/revoke`)).status).toBe(404);
    expect((await client.post(`${SESSIONS}/${owner.key.id}/revoke`)).status).toBe(404);
    const { body: keys } = await client.get(`${KEYS}?limit=100`);
    expect(keys.api_keys.map((key: { id: number }) => key.id)).not.toContain(id);
  });

  test('makes keys that expire within 90 days, and others with manage_settings', async () => {
    const newKey = (more: object = {}) => ({ name: 'ci', scopes: ['incidents:read'], ...more });
    const { client } = await begin(member);
    const latest = addMilliseconds(clock.now(), 90 * 24 * HOUR);
    expect((await client.post(KEYS, newKey())).body.api_key.expires_at).toBe(latest);
    expect((await client.post(KEYS, newKey({ expires_at: latest }))).status).toBe(201);
    for (const later of [addMilliseconds(latest, 1), null]) {
      const { status, body } = await client.post(KEYS, newKey({ expires_at: later }));
      expect([status, body.field, body.message.includes(latest)]).toEqual([400, 'expires_at', true]);
    }
    const { status, body } = await client.post(`${KEYS}/${member.key.id}/rotate`, {});
    expect([status, body.code, body.details]).toEqual([403, 'permission_denied', { latest_expires_at: latest }]);
    // A key of theirs is bounded by its own expiry only.
    expect((await member.client.post(KEYS, newKey())).body.api_key.expires_at).toBeNull();

    const managing = (await begin()).client;
    const made = await managing.post(KEYS, newKey());
    expect(made.body.api_key.expires_at).toBeNull();
    expect((await managing.post(`${KEYS}/${made.body.api_key.id}/rotate`, {})).status).toBe(200);
  });

  test('ends when it is revoked, and a member ends only their own', async () => {
    const [first, second] = [await begin(member), await begin()];
    expect((await sessionsOf(first)).every(({ user_id: userId }) => userId === member.user.id)).toBe(true);
    expect((await first.client.post(`${SESSIONS}/${second.id}/revoke`)).status).toBe(404);
    expect((await second.client.post(`${SESSIONS}/${first.id}/revoke`)).status).toBe(200);
    expect((await first.client.get(INCIDENTS)).status).toBe(401);
    expect((await second.client.post(`${SESSIONS}/${second.id}/revoke`)).body.session.revoked_at).toBe(clock.now());
    expect((await second.client.get(INCIDENTS)).status).toBe(401);
  });

  test('ends with its user, and stays ended after an activation', async () => {
    const leaving = await memberOf(gateway);
    const { client } = await begin(leaving);
    const set = async (active: boolean, revision: number) =>
      owner.client.patch(`${USERS}/${leaving.user.id}`, { active }, at(revision));
    expect((await set(false, 1)).status).toBe(200);
    expect((await client.get(INCIDENTS)).status).toBe(401);
    expect((await set(true, 2)).status).toBe(200);
    expect((await client.get(INCIDENTS)).status).toBe(401);
    expect((await leaving.client.get(INCIDENTS)).status).toBe(200);
  });

  test('ends with the email address of its user, as their links do, and their keys do not', async () => {
    const renamed = await memberOf(gateway);
    const { client } = await begin(renamed);
    const link = await linkFor(renamed.user.email);
    const path = `${USERS}/${renamed.user.id}`;
    const email = `renamed-${renamed.user.id}@acme.example`;
    expect((await owner.client.patch(path, { email: renamed.user.email, name: 'R' }, at(1))).status).toBe(200);
    expect((await client.get(INCIDENTS)).status).toBe(200);
    expect((await owner.client.patch(path, { email }, at(2))).status).toBe(200);
    expect((await client.get(INCIDENTS)).status).toBe(401);
    expect((await renamed.client.get(INCIDENTS)).status).toBe(200);
    await inRealTime(async () => expect((await open(link)).status).toBe(401));
    expect((await (await beginSession(gateway, email)).client.get(INCIDENTS)).status).toBe(200);
    await eventually(async () => {
      const { entries } = (await owner.client.get('/api/v1/settings/audit-log?limit=100')).body;
      return entries.some(
        ({ before, after }: Record<string, { email?: string } | null>) =>
          before?.email === renamed.user.email && after?.email === email,
      );
    });
  });

  test('ends 12 hours after its last use, and 7 days after the sign-in', async () => {
    const start = now;
    try {
      const { client } = await begin();
      for (let hours = 11; hours < 7 * 24; hours += 11) {
        now = start + hours * HOUR;
        expect((await client.get(INCIDENTS)).status).toBe(200);
      }
      now = start + 7 * 24 * HOUR;
      expect((await client.get(INCIDENTS)).status).toBe(401);

      now = start;
      const idle = await begin();
      now = start + 12 * HOUR;
      expect((await idle.client.get(INCIDENTS)).status).toBe(401);
      expect((await sessionsOf(owner)).map(({ id }) => id)).not.toContain(idle.id);
    } finally {
      now = start;
    }
  });

  test('is the oldest of 20 when the next one ends it', async () => {
    const busy = await memberOf(gateway);
    const oldest = await begin(busy);
    const next = await begin(busy);
    for (let count = 2; count < 21; count += 1) await begin(busy);
    expect((await oldest.client.get(INCIDENTS)).status).toBe(401);
    expect((await next.client.get(INCIDENTS)).status).toBe(200);
    expect(await sessionsOf(busy)).toHaveLength(20);
  });

  test('is in the audit log from its beginning to its end', async () => {
    const { id, client } = await begin();
    await client.post(`${SESSIONS}/${id}/revoke`);
    await eventually(async () => {
      await turn();
      const { body } = await owner.client.get('/api/v1/settings/audit-log');
      const own = body.entries.filter((entry: { target: { id: string } }) => entry.target.id === String(id));
      if (own.length < 2) return false;
      expect(own.map(({ action }: { action: string }) => action).toSorted()).toEqual([
        'session.created',
        'session.revoked',
      ]);
      expect(own[0]).toMatchObject({ actor: { user_id: owner.user.id }, target: { type: 'session' } });
      expect(JSON.stringify(own)).not.toContain('digest');
      return true;
    });
  });
});

describe('a link', () => {
  test('works once, also when many open it at the same moment', async () => {
    const token = await linkFor();
    const answers = await inRealTime(async () => Promise.all(Array.from({ length: 8 }, async () => open(token))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...Array.from({ length: 7 }, () => 401)]);
    expect(answers.every(({ status, headers }) => headers.has('set-cookie') === (status === 204))).toBe(true);
  });

  test('works for ten minutes, at the host of its workspace, from its own origin, for an active user', async () => {
    const token = await linkFor();
    const before = now;
    now = Date.now() + 600_000;
    expect((await open(token)).status).toBe(401);
    now = before;
    await inRealTime(async () => {
      expect((await open(token, { Host: 'other.localhost' })).status).toBe(401);
      expect((await open(token, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403);
      expect((await open(token)).status).toBe(204);
      const leaving = await memberOf(gateway);
      const unused = await linkFor(leaving.user.email);
      await owner.client.patch(`${USERS}/${leaving.user.id}`, { active: false }, at(1));
      expect((await open(unused)).status).toBe(401);
      for (const wrong of [generateToken('login_link'), generateToken(), 'x', '']) {
        expect((await open(wrong)).status).toBe(401);
      }
    });
    const put = await httpClient(gateway.app.url, { Host: 'acme.localhost' }).send('PUT', '/app/session');
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST, GET']);
  });
});

describe('a link in the browser of another user', () => {
  test('replaces their session only when it is told to, and still works then', async () => {
    const { token } = await gateway.admin.createLoginLink({ workspace: 'acme', email: member.user.email });
    const open = async (query: string, cookie: string) =>
      httpClient(gateway.app.url, { Host: 'acme.localhost', 'Sec-Fetch-Site': 'same-origin', Cookie: cookie }).post(
        `/app/session${query}`,
        undefined,
        { Authorization: `Bearer ${token}` },
      );
    await inRealTime(async () => {
      const ana = await begin();
      const { status, body, headers } = await open('', ana.cookie);
      expect([status, body.code, body.details, headers.has('set-cookie')]).toEqual([
        409,
        'invalid_resource_state',
        {
          signed_in: { name: owner.user.name, email: owner.user.email },
          link: { name: member.user.name, email: member.user.email },
        },
        false,
      ]);
      expect((await open('?replace=false', ana.cookie)).status).toBe(409);
      expect((await open('?replace=true', ana.cookie)).status).toBe(204);
    });
  });

  test('asks nothing in a browser of the same user, or whose session has ended', async () => {
    await inRealTime(async () => {
      const [same, ended] = [await begin(member), await begin()];
      await owner.client.post(`${SESSIONS}/${ended.id}/revoke`);
      for (const { cookie } of [same, ended]) {
        const { token } = await gateway.admin.createLoginLink({ workspace: 'acme', email: member.user.email });
        const headers = { Host: 'acme.localhost', 'Sec-Fetch-Site': 'same-origin', Cookie: cookie };
        const bearer = { Authorization: `Bearer ${token}` };
        expect((await httpClient(gateway.app.url, headers).post('/app/session', undefined, bearer)).status).toBe(204);
      }
    });
  });
});

describe('a request with a cookie', () => {
  test.each([
    ['of this origin', { 'Sec-Fetch-Site': 'same-origin' }, 201],
    ['of an older browser', { Origin: 'http://acme.localhost' }, 201],
    ['of another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['of another workspace', { 'Sec-Fetch-Site': 'same-site', Origin: 'http://acme.localhost' }, 403],
    ['of an older browser on another site', { Origin: 'http://evil.example' }, 403],
    ['of an opaque origin', { Origin: 'null' }, 403],
    ['that does not say where it comes from', {}, 403],
  ])('%s', async (_, headers, status) => {
    const { cookie } = await begin();
    const client = httpClient(gateway.app.url, { Host: 'acme.localhost', Cookie: cookie, ...headers });
    const written = await client.post(INCIDENTS, { title: 'x' });
    expect([written.status, written.body.code]).toEqual([status, status === 403 ? 'permission_denied' : undefined]);
    expect((await client.get(INCIDENTS)).status).toBe(200);
  });

  test('does not count beside a token, at another workspace, or if it holds another kind of token', async () => {
    const { cookie, link } = await begin();
    const session = cookie.slice('tocsin='.length);
    const get = async (headers: Record<string, string>, host = 'acme') =>
      (await httpClient(gateway.app.url, { Host: `${host}.localhost`, ...headers }).get(INCIDENTS)).status;
    expect(await get({ Cookie: `a=b; ${cookie}; c` })).toBe(200);
    expect(await get({ Cookie: cookie, Authorization: 'Bearer x' })).toBe(401);
    expect(await get({ Cookie: cookie }, 'other')).toBe(401);
    expect(await get({ Cookie: `tocsin=${owner.token}` })).toBe(401);
    expect(await get({ Cookie: `tocsin=${link}` })).toBe(401);
    expect(await get({ Cookie: `__Host-${cookie}` })).toBe(401);
    expect(await get({ Authorization: `Bearer ${session}` })).toBe(401);
  });
});

test('over HTTPS the cookie is bound to the host', async () => {
  const secure = await openGateway({ env: { BASE_DOMAIN: 'tocsin.example' } });
  await secure.admin.createUser({ workspace: 'acme', email: 'ana@acme.example', name: 'Ana' });
  const { token } = await secure.admin.createLoginLink({ workspace: 'acme', email: 'ana@acme.example' });
  const host = { Host: 'acme.tocsin.example', Origin: 'https://acme.tocsin.example' };
  const { headers } = await httpClient(secure.app.url, host).post('/app/session', undefined, {
    Authorization: `Bearer ${token}`,
  });
  expect(headers.get('set-cookie')).toMatch(
    /^__Host-tocsin=tcn_\w+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/,
  );
});
