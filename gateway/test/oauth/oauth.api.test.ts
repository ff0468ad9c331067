import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { query } from '@tocsin/postgres';
import { type Client, eventually, httpClient } from '@tocsin/testing';
import { openGatewayDatabase } from '../../src/administration.ts';
import { deleteExpiredOAuth } from '../../src/oauth/store/oauth-store.ts';
import { schema } from '../../src/schema.ts';
import { startGatewayHarness } from '../gateway-harness.ts';
import { at, beginSession, clientOf, KEYS, memberOf, USERS } from '../members.ts';

const CONSENT = '/oauth/consent';
const SESSIONS = '/api/v1/settings/sessions';
const INCIDENTS = '/api/v1/incidents';
const REDIRECT = 'https://agent.example/callback';
const HOUR = 3_600_000;

let ahead = 0;
const clock = { now: () => new Date(Date.now() + ahead).toISOString() };

const env = { RATE_LIMIT_PER_MINUTE: '100000', ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000' };
const gateway = await startGatewayHarness({ env, overrides: { clock } });
await gateway.admin.createWorkspace({ slug: 'other', name: 'Other' });
const owner = await memberOf(gateway, { role: 'owner', seat: 'responder' });
const member = await memberOf(gateway, { seat: 'responder' });
let session: Awaited<ReturnType<typeof beginSession>>;
beforeAll(async () => {
  session = await beginSession(gateway, member.user.email);
});
afterAll(async () => gateway.close());

type Fields = Record<string, string>;

const siteOf = (host: string) => httpClient(gateway.app.url, { Host: `${host}.localhost` });
const form = async (path: string, fields: Fields, host = 'acme') =>
  siteOf(host).post(path, new URLSearchParams(fields).toString(), {
    'Content-Type': 'application/x-www-form-urlencoded',
  });
const register = async (metadata: unknown = { client_name: 'Agent', redirect_uris: [REDIRECT] }, host = 'acme') =>
  siteOf(host).post('/oauth/register', metadata);
const clientId = async (redirectUris = [REDIRECT]): Promise<string> =>
  (await register({ client_name: 'Agent', redirect_uris: redirectUris })).body.client_id;

const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');
/** What a client sends a person with. */
const request = (id: string, changes: Fields = {}) => ({
  ...{
    client_id: id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    state: 'st',
    resource: 'http://acme.localhost/mcp',
  },
  ...{ code_challenge: challenge, code_challenge_method: 'S256', ...changes },
});
const queryOf = (fields: Fields) => new URLSearchParams(fields).toString();
const consent = async (fields: Fields, client: Client = session.client, decision = 'allow') =>
  client.post(`${CONSENT}?${queryOf({ ...fields, decision })}`);
const parametersOf = ({ body }: { body: { redirect_to: string } }) =>
  Object.fromEntries(new URL(body.redirect_to).searchParams);
const exchange = async (id: string, code: string | undefined, changes: Fields = {}, host = 'acme') =>
  form(
    '/oauth/token',
    {
      ...{ grant_type: 'authorization_code', client_id: id, code: code ?? '', redirect_uri: REDIRECT },
      ...{ code_verifier: verifier, ...changes },
    },
    host,
  );
const refresh = async (id: string, token: string, changes: Fields = {}, host = 'acme') =>
  form('/oauth/token', { grant_type: 'refresh_token', client_id: id, refresh_token: token, ...changes }, host);
/** Goes all the way. */
async function connect(client: Client = session.client, changes: Fields = {}) {
  const id = await clientId();
  const { code } = parametersOf(await consent(request(id, changes), client));
  const { status, body } = await exchange(id, code);
  expect([status, body.token_type, body.expires_in]).toEqual([200, 'Bearer', 3_600]);
  return { id, code, access: body.access_token as string, refresh: body.refresh_token as string, scope: body.scope };
}
const statusOf = async (token: string, url = gateway.app.url) =>
  (await httpClient(url, { Host: 'acme.localhost', Authorization: `Bearer ${token}` }).get(INCIDENTS)).status;
const agents = async (client: Client = session.client) =>
  ((await client.get(`${SESSIONS}?limit=100`)).body.sessions as { id: number; kind: string; name: string }[]).filter(
    ({ kind }) => kind === 'agent',
  );
const expectEnded = async (agent: { id: string; access: string; refresh: string }) => {
  expect(await statusOf(agent.access)).toBe(401);
  expect((await refresh(agent.id, agent.refresh)).body.error).toBe('invalid_grant');
};

describe('the documents of a workspace', () => {
  test('lead a client from the endpoint for agents to the authorization server', async () => {
    for (const suffix of ['', '/mcp']) {
      const { status, body } = await siteOf('acme').get(`/.well-known/oauth-protected-resource${suffix}`);
      expect([status, body.resource, body.authorization_servers]).toEqual([
        ...[200, 'http://acme.localhost/mcp', ['http://acme.localhost']],
      ]);
    }
    expect((await siteOf('acme').get('/.well-known/oauth-authorization-server')).body).toMatchObject({
      issuer: 'http://acme.localhost',
      code_challenge_methods_supported: ['S256'],
      authorization_endpoint: 'http://acme.localhost/app/authorize',
    });
    expect((await siteOf('nowhere').get('/.well-known/oauth-authorization-server')).status).toBe(404);
    expect((await siteOf('acme').post('/.well-known/oauth-authorization-server')).status).toBe(405);
    expect((await httpClient(gateway.app.url, { Host: 'acme.localhost:99999' }).post('/oauth/register')).status).toBe(
      404,
    );
  });
});

describe('an agent', () => {
  test('acts as its person, is in the list and the audit log, and ends there', async () => {
    const agent = await connect();
    const api = clientOf(gateway, agent.access);
    const { body: me } = await api.get('/api/v1/me');
    expect([me.user.email, me.api_key.name]).toEqual([member.user.email, 'Agent']);
    expect((await api.post(INCIDENTS, { title: 'x' })).status).toBe(201);
    expect(gateway.lastReceived.principal).toMatchObject({ user_id: member.user.id, key_id: me.api_key.id });
    const listed = (await session.client.get(SESSIONS)).body.sessions;
    expect(listed.find(({ id }: { id: number }) => id === me.api_key.id)).toMatchObject({
      ...{ kind: 'agent', name: 'Agent', user_id: member.user.id, current: false, scopes: agent.scope.split(' ') },
    });
    expect((await session.client.post(`${SESSIONS}/${me.api_key.id}/revoke`)).status).toBe(200);
    await expectEnded(agent);
    await eventually(async () => {
      const { entries } = (await owner.client.get('/api/v1/settings/audit-log?limit=100')).body;
      const own = entries.filter(({ target }: { target: { id: string } }) => target.id === String(me.api_key.id));
      return ['agent.created', 'agent.revoked'].every((each) =>
        own.some(({ action }: { action: string }) => action === each),
      );
    });
  });

  test('gets new tokens and loses its refresh token; its second use ends it', async () => {
    const agent = await connect();
    const { status, body } = await refresh(agent.id, agent.refresh);
    expect([status, body.expires_in]).toEqual([200, 3_600]);
    expect([await statusOf(agent.access), await statusOf(body.access_token)]).toEqual([200, 200]);
    const reused = await refresh(agent.id, agent.refresh);
    expect([reused.status, reused.body.error]).toEqual([400, 'invalid_grant']);
    expect(await statusOf(agent.access)).toBe(401);
    await expectEnded({ id: agent.id, access: body.access_token, refresh: body.refresh_token });
    expect((await agents()).some(({ name }) => name === agent.id)).toBe(false);
  });

  test('ends with the second use of its code, also when two come at the same moment', async () => {
    const agent = await connect();
    expect((await exchange(agent.id, agent.code)).body.error).toBe('invalid_grant');
    await expectEnded(agent);

    const id = await clientId();
    const { code } = parametersOf(await consent(request(id)));
    const answers = await Promise.all(Array.from({ length: 4 }, async () => exchange(id, code)));
    const successes = answers.filter(({ status }) => status === 200);
    expect(successes.length).toBeLessThanOrEqual(1);
    for (const { body } of successes) expect(await statusOf(body.access_token)).toBe(401);
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 400)).toEqual([]);
  });

  test('has access for an hour, and with a narrower refresh for less', async () => {
    const start = Date.now();
    const agent = await connect();
    try {
      // A second less than an hour after the start, however long that has taken.
      ahead = start + HOUR - 1_000 - Date.now();
      expect(await statusOf(agent.access)).toBe(200);
      ahead = HOUR + 1_000;
      expect(await statusOf(agent.access)).toBe(401);
    } finally {
      ahead = 0;
    }
    const { body } = await refresh(agent.id, agent.refresh, { scope: 'services:read' });
    expect([body.scope, await statusOf(body.access_token)]).toEqual(['services:read', 403]);
    expect((await refresh(agent.id, body.refresh_token, { scope: 'users:write' })).body.error).toBe('invalid_scope');
  });

  test.each([['access'], ['refresh']] as const)('ends with the revocation of its %s token', async (kind) => {
    const agent = await connect();
    const stranger = await clientId();
    const revoke = async (id: string) => form('/oauth/revoke', { token: agent[kind], client_id: id });
    expect((await revoke(stranger)).status).toBe(200);
    expect(await statusOf(agent.access)).toBe(200);
    expect((await revoke(agent.id)).status).toBe(200);
    await expectEnded(agent);
  });

  test('ends with its person, and stays ended', async () => {
    const leaving = await memberOf(gateway);
    const agent = await connect((await beginSession(gateway, leaving.user.email)).client);
    const set = async (active: boolean, revision: number) =>
      owner.client.patch(`${USERS}/${leaving.user.id}`, { active }, at(revision));
    expect((await set(false, 1)).status).toBe(200);
    await expectEnded(agent);
    expect((await set(true, 2)).status).toBe(200);
    await expectEnded(agent);
  });

  test('may what its person may now', async () => {
    const viewer = await memberOf(gateway, { role: 'viewer', seat: 'none' });
    const { client } = await beginSession(gateway, viewer.user.email);
    const { access, scope } = await connect(client, { scope: 'incidents:read incidents:write api_keys:manage' });
    expect(scope).toBe('incidents:read incidents:write');
    const api = clientOf(gateway, access);
    const write = async () => (await api.post(INCIDENTS, { title: 'x' })).body.code;
    expect([await statusOf(access), await write()]).toEqual([200, 'responder_seat_required']);
    const seat = { role: 'member', seat: 'responder' };
    expect((await owner.client.patch(`${USERS}/${viewer.user.id}`, seat, at(1))).status).toBe(200);
    expect(await write()).toBe(undefined);
    expect((await owner.client.patch(`${USERS}/${viewer.user.id}`, { seat: 'none' }, at(2))).status).toBe(200);
    expect(await write()).toBe('responder_seat_required');
    expect((await api.get(KEYS)).body.code).toBe('missing_scope');
  });

  test('may no more than the key that began the session, and ends with it', async () => {
    const { token, key } = await memberOf(gateway, {
      seat: 'responder',
      scopes: ['incidents:read', 'api_keys:manage'],
    });
    const answer = await httpClient(gateway.app.url, { Host: 'acme.localhost', 'Sec-Fetch-Site': 'same-origin' }).post(
      ...(['/app/session', undefined, { Authorization: `Bearer ${token}` }] as const),
    );
    const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
    const client = httpClient(gateway.app.url, {
      Host: 'acme.localhost',
      'Sec-Fetch-Site': 'same-origin',
      Cookie: cookie,
    });
    const agent = await connect(client);
    expect(agent.scope).toBe('incidents:read');
    expect((await owner.client.post(`${KEYS}/${key.id}/revoke`)).status).toBe(200);
    await expectEnded(agent);
  });

  test('is the oldest of 20 when the next one ends it', async () => {
    const busy = await memberOf(gateway);
    const { client } = await beginSession(gateway, busy.user.email);
    const oldest = await connect(client);
    const id = await clientId();
    for (let count = 1; count < 21; count += 1) expect((await consent(request(id), client)).status).toBe(200);
    await expectEnded(oldest);
    expect(await agents(client)).toHaveLength(20);
  });

  test('is nobody at another workspace, nor are its client, code and refresh token', async () => {
    const agent = await connect();
    const elsewhere = clientOf(gateway, agent.access, 'other');
    expect((await elsewhere.get(INCIDENTS)).status).toBe(401);
    const id = await clientId();
    const { code } = parametersOf(await consent(request(id)));
    const { body: foreign } = await register(undefined, 'other');
    for (const attempt of [
      await refresh(agent.id, agent.refresh, {}, 'other'),
      await refresh(foreign.client_id, agent.refresh, {}, 'other'),
      await exchange(id, code, {}, 'other'),
      await exchange(foreign.client_id, code, {}, 'other'),
      await exchange(foreign.client_id, code),
    ]) {
      expect([400, 401]).toContain(attempt.status);
      expect(attempt.body.access_token).toBe(undefined);
    }
    const { status } = await form('/oauth/revoke', { token: agent.access, client_id: foreign.client_id }, 'other');
    expect(status).toBe(200);
    expect((await consent(request(foreign.client_id))).status).toBe(400);
    expect(await statusOf(agent.access)).toBe(200);
  });

  test('has a token that is no cookie and no way in', async () => {
    const { access } = await connect();
    const cookie = httpClient(gateway.app.url, { Host: 'acme.localhost', Cookie: `tocsin=${access}` });
    expect((await cookie.get(INCIDENTS)).status).toBe(401);
    const headers = { 'Sec-Fetch-Site': 'same-origin', Authorization: `Bearer ${access}` };
    expect((await siteOf('acme').post('/app/session', undefined, headers)).status).toBe(401);
  });
});

describe('a consent', () => {
  test('tells the person who asks, for what', async () => {
    const { body: client } = await register({
      client_name: '\u202eAge\u0000nt\n',
      redirect_uris: [REDIRECT],
      logo_uri: 'x',
    });
    const shown = await session.client.get(`${CONSENT}?${queryOf(request(client.client_id))}`);
    expect(shown.body).toMatchObject({ client_name: 'Agent', redirect_host: 'agent.example' });
    expect((await siteOf('acme').get(`${CONSENT}?${queryOf(request(client.client_id))}`)).status).toBe(401);
  });

  test('that is refused tells the client', async () => {
    const before = (await agents()).length;
    const answer = await consent(request(await clientId()), session.client, 'refuse');
    expect(answer.body.redirect_to).toMatch(/^https:\/\/agent\.example\/callback\?/);
    expect(parametersOf(answer)).toMatchObject({ error: 'access_denied', state: 'st' });
    expect(await agents()).toHaveLength(before);
  });

  test.each<[string, Fields, string]>([
    ['without PKCE', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['for another resource', { resource: 'http://other.localhost/mcp' }, 'invalid_target'],
    ['for a token in the address', { response_type: 'token' }, 'unsupported_response_type'],
  ])('%s gives nothing', async (_, changes, error) => {
    const before = (await agents()).length;
    expect(parametersOf(await consent(request(await clientId(), changes)))['error']).toBe(error);
    expect(await agents()).toHaveLength(before);
  });

  test.each([
    ...[
      'https://agent.example/callback/',
      'https://agent.example/callback?x=1',
      'https://agent.example.evil.example/callback',
    ],
    ...[
      'https://evil.example/callback',
      'http://agent.example/callback',
      'https://x@agent.example/callback',
      'javascript:0',
      '',
    ],
  ])('does not lead to %s', async (uri) => {
    const id = await clientId();
    const fields = request(id, { redirect_uri: uri });
    for (const answer of [
      await consent(fields),
      await consent(fields, session.client, 'refuse'),
      await session.client.get(`${CONSENT}?${queryOf(fields)}`),
    ]) {
      expect([answer.status, answer.headers.has('location'), answer.body.redirect_to]).toEqual([400, false, undefined]);
    }
  });

  test('leads to any port of this machine, as it was registered', async () => {
    const id = await clientId(['http://127.0.0.1/callback']);
    const redirect = { redirect_uri: 'http://127.0.0.1:51234/callback' };
    const { code } = parametersOf(await consent(request(id, redirect)));
    expect((await exchange(id, code, redirect)).status).toBe(200);
  });

  test('comes from the console, and from a session', async () => {
    const fields = request(await clientId());
    const before = (await agents()).length;
    const forged = async (headers: Record<string, string>) =>
      (await consent(fields, httpClient(gateway.app.url, { Host: 'acme.localhost', ...headers }))).status;
    const { cookie: Cookie } = session;
    expect(await forged({ Cookie, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'document' })).toBe(403);
    expect(await forged({ Cookie, 'Sec-Fetch-Site': 'same-site' })).toBe(403);
    expect(await forged({ Cookie, Origin: 'https://evil.example' })).toBe(403);
    expect(await forged({ Cookie })).toBe(403);
    expect(await forged({ Authorization: `Bearer ${member.token}`, 'Sec-Fetch-Site': 'same-origin' })).toBe(401);
    expect(await agents()).toHaveLength(before);
    for (const path of ['/oauth/authorize', '/authorize', '/oauth/authorize/x'])
      expect((await session.client.get(`${path}?${queryOf(fields)}`)).status).toBe(404);
  });
});

describe('a code', () => {
  test.each<[string, Fields]>([
    ['a wrong verifier', { code_verifier: randomBytes(32).toString('base64url') }],
    ['no verifier', { code_verifier: '' }],
    ['another redirect URI', { redirect_uri: 'https://agent.example/other' }],
    ['another resource', { resource: 'http://other.localhost/mcp' }],
  ])('is worth nothing with %s', async (_, changes) => {
    const id = await clientId();
    const { code } = parametersOf(await consent(request(id)));
    const { status, body } = await exchange(id, code, changes);
    expect([status, body.access_token]).toEqual([400, undefined]);
    expect((await exchange(id, 'x'.repeat(43))).body.error).toBe('invalid_grant');
  });
});

describe('a registration', () => {
  test.each<[string, unknown, string]>([
    ['a plain address', { redirect_uris: ['http://agent.example/'] }, 'invalid_redirect_uri'],
    ['a program on the machine', { redirect_uris: ['agent://callback'] }, 'invalid_redirect_uri'],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a fragment', { redirect_uris: [`${REDIRECT}#`] }, 'invalid_redirect_uri'],
    ['a character that no database has', { redirect_uris: [`${REDIRECT}\0`] }, 'invalid_redirect_uri'],
    ['no address', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['eleven addresses', { redirect_uris: Array.from({ length: 11 }, () => REDIRECT) }, 'invalid_redirect_uri'],
    ['a long name', { client_name: 'x'.repeat(101), redirect_uris: [REDIRECT] }, 'invalid_client_metadata'],
    ['no object', '[]', 'invalid_client_metadata'],
    ['no JSON', '{', 'invalid_client_metadata'],
  ])('with %s is refused', async (_, metadata, error) => {
    const { status, body } = await register(metadata);
    expect([status, body.error]).toEqual([400, error]);
  });

  test('has a size, and is JSON', async () => {
    expect((await register({ redirect_uris: [REDIRECT], x: 'x'.repeat(20_000) })).status).toBe(413);
    expect((await form('/oauth/token', { grant_type: 'x'.repeat(20_000) })).status).toBe(413);
    expect((await form('/oauth/token', {})).status).toBe(400);
    expect((await siteOf('acme').post('/oauth/token', {})).status).toBe(400);
    expect((await siteOf('acme').post('/oauth/token')).status).toBe(400);
    expect((await refresh('\0', '\0')).status).toBe(401);
    expect((await consent(request('\0'))).status).toBe(400);
    expect((await exchange(await clientId(), '\0', { code_verifier: '\0', scope: '\0' })).status).toBe(400);
  });

  test('removes the oldest of 500 that nobody has used, and none that somebody has', async () => {
    const database = openGatewayDatabase({ GATEWAY_DATABASE_URL: gateway.database.url(schema.name) });
    const count = async () =>
      (await query<{ count: number }>(database, { text: 'select count(*)::integer as count from oauth_clients' }))[0]
        ?.count;
    try {
      const agent = await connect();
      const [unused, connected] = [await clientId(), (await count()) ?? 0];
      for (let sent = 0; sent < 1_000; sent += 50)
        await Promise.all(Array.from({ length: 50 }, async () => register()));
      expect((await count()) ?? 0).toBeLessThanOrEqual(500 + connected);
      expect((await consent(request(unused))).status).toBe(400);
      const latest = await refresh(agent.id, agent.refresh);
      expect(latest.status).toBe(200);

      await deleteExpiredOAuth(database, new Date(Date.now() + 25 * HOUR).toISOString());
      expect((await count()) ?? 0).toBeLessThan(connected);
      expect((await refresh(agent.id, latest.body.refresh_token)).status).toBe(200);
      await deleteExpiredOAuth(database, new Date(Date.now() + 91 * 24 * HOUR).toISOString());
      expect(await count()).toBe(0);
    } finally {
      await database.destroy();
    }
  });
});

describe('another gateway', () => {
  test('knows the agents of all, ends them within a second, and counts what strangers send', async () => {
    const second = await startGatewayHarness({
      env: { ...env, ANONYMOUS_RATE_LIMIT_PER_MINUTE: '5' },
      database: gateway.database,
    });
    try {
      const agent = await connect();
      expect(await statusOf(agent.access, second.app.url)).toBe(200);
      await form('/oauth/revoke', { token: agent.refresh, client_id: agent.id });
      await eventually(async () => (await statusOf(agent.access, second.app.url)) === 401, { within: 1_000 });
      const elsewhere = httpClient(second.app.url, { Host: 'acme.localhost' });
      const answers = [];
      for (let sent = 0; sent < 6; sent += 1) answers.push((await elsewhere.post('/oauth/register', {})).status);
      expect(answers.at(-1)).toBe(429);
    } finally {
      await second.close();
    }
  });
});
