import { afterAll, expect, test } from '@jest/globals';
import { eventually, httpClient } from '@tocsin/testing';
import { startGatewayHarness } from '../gateway-harness.ts';
import { at, beginSession, KEYS, type Member, memberOf, type MemberOptions, USERS } from '../members.ts';

const DAY = 86_400_000;

const gateway = await startGatewayHarness({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000' } });
afterAll(async () => gateway.close());
await gateway.admin.createWorkspace({ slug: 'other', name: 'Other' });
const owner = await memberOf(gateway, { role: 'owner', seat: 'responder' });
const member = async (options: MemberOptions = {}) => memberOf(gateway, options);

const linkFor = async (id: number, { client } = owner) => client.post(`${USERS}/${id}/login-link`);
const tokenOf = ({ body }: { body: { login_link: { path: string } } }) => body.login_link.path.split('#')[1] ?? '';

/** Sends a token as the page of the console does, and returns a client with the cookie, if there is one. */
async function signIn(token: string, { workspace = 'acme', cookie = '' } = {}) {
  const host = { Host: `${workspace}.localhost`, 'Sec-Fetch-Site': 'same-origin' };
  const answer = await httpClient(gateway.app.url, host).post('/app/session', undefined, {
    Authorization: `Bearer ${token}`,
    ...(cookie !== '' && { Cookie: cookie }),
  });
  const [own = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { ...answer, cookie: own, client: httpClient(gateway.app.url, host, { Cookie: own }) };
}

test('a link that an owner makes signs the user in once, replaces unused ones, and is in the audit log', async () => {
  const { user } = await member({ role: 'member' });
  const first = await linkFor(user.id);
  expect(first).toMatchObject({
    status: 201,
    body: { login_link: { path: expect.stringMatching(/^\/app\/sign-in#tcl_/) } },
  });
  const second = await linkFor(user.id);
  expect((await signIn(tokenOf(first))).status).toBe(401);
  const session = await signIn(tokenOf(second));
  expect(session.status).toBe(204);
  expect((await session.client.get('/api/v1/me')).body.user.id).toBe(user.id);
  expect((await signIn(tokenOf(second))).status).toBe(401);
  const recorded = async () =>
    (await owner.client.get('/api/v1/settings/audit-log?action=login_link.created')).body.entries as object[];
  await eventually(async () => (await recorded()).length === 2);
  const entries = await recorded();
  expect(entries[0]).toMatchObject({
    actor: { type: 'user', user_id: owner.user.id },
    target: { type: 'user', id: String(user.id) },
    after: { user_id: user.id, expires_at: second.body.login_link.expires_at },
  });
  expect(JSON.stringify(entries)).not.toContain('tcl_');
});

test('nobody makes a link above their own role, for a deactivated or unknown user, or of another workspace', async () => {
  const admin = await member({ role: 'admin' });
  expect(await linkFor(owner.user.id, admin)).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  expect((await linkFor(admin.user.id, admin)).status).toBe(201);
  const manager = await member({ role: 'manager' });
  expect(await linkFor(manager.user.id, manager)).toMatchObject({ body: { code: 'missing_role_permission' } });
  expect((await linkFor(999_999)).status).toBe(404);
  const stranger = await member({ workspace: 'other' });
  expect((await linkFor(stranger.user.id)).status).toBe(404);
  await owner.client.patch(`${USERS}/${manager.user.id}`, { active: false }, at(manager.user.revision));
  expect(await linkFor(manager.user.id)).toMatchObject({ status: 409, body: { code: 'invalid_resource_state' } });
});

test('a key makes no link to more than it may do, and none if it expires, however late', async () => {
  const narrow = await member({ role: 'owner', scopes: ['users:write', 'users:read'] });
  expect(await linkFor(narrow.user.id, narrow)).toMatchObject({ status: 403, body: { code: 'missing_scope' } });
  for (const days of [1, 365]) {
    const expires = new Date(Date.now() + days * DAY).toISOString();
    const { body } = await owner.client.post(KEYS, { name: 'short', scopes: owner.key.scopes, expires_at: expires });
    const short = owner.client.with({ Authorization: `Bearer ${body.token}` });
    const refused = await short.post(`${USERS}/${owner.user.id}/login-link`);
    expect(refused).toMatchObject({ status: 403, body: { details: { latest_expires_at: expires } } });
  }
  const session = await beginSession(gateway, owner.user.email);
  expect((await session.client.post(`${USERS}/${owner.user.id}/login-link`)).status).toBe(201);
});

test('a token of one’s own signs in, with its scopes and until it expires', async () => {
  const { key, token, user } = await member({ role: 'owner', scopes: ['api_keys:manage', 'users:read'] });
  const session = await signIn(token);
  expect(session.status).toBe(204);
  const { body } = await session.client.get('/api/v1/me');
  expect(body).toMatchObject({ user: { id: user.id }, api_key: { scopes: key.scopes } });
  expect(await session.client.post(USERS, { email: 'a@b.example', name: 'A' })).toMatchObject({
    status: 403,
    body: { code: 'missing_scope' },
  });
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const made = await owner.client.post(KEYS, { name: 'short', scopes: ['users:read'], expires_at: expires });
  const short = await signIn(made.body.token);
  expect((await short.client.get('/api/v1/me')).body.api_key.expires_at).toBe(expires);
});

test('a session that a token began passes on no more than its key', async () => {
  const expires = new Date(Date.now() + 120_000).toISOString();
  const made = await owner.client.post(KEYS, { name: 'brief', scopes: owner.key.scopes, expires_at: expires });
  const { client } = await signIn(made.body.token);
  const newKey = (more: object) => client.post(KEYS, { name: 'made', scopes: ['users:read'], ...more });
  expect(await newKey({ expires_at: null })).toMatchObject({ status: 400, body: { field: 'expires_at' } });
  expect((await newKey({})).body.api_key.expires_at).toBe(expires);
  const lasting = await owner.client.post(KEYS, { name: 'lasting', scopes: ['users:read'] });
  const later = { status: 403, body: { code: 'permission_denied', details: { latest_expires_at: expires } } };
  expect(await client.post(`${KEYS}/${lasting.body.api_key.id}/rotate`, {})).toMatchObject(later);
  expect(await linkFor(owner.user.id, { ...owner, client })).toMatchObject(later);
  const once = { 'Idempotency-Key': 'lasting-once' };
  const again = { name: 'again', scopes: ['users:read'] };
  expect((await owner.client.post(KEYS, again, once)).status).toBe(201);
  expect(await client.post(KEYS, again, once)).toMatchObject(later);
  // A session of a lasting key is worth as much as the key.
  const { client: full } = await signIn(owner.token);
  expect((await full.post(KEYS, again)).body.api_key.expires_at).toBeNull();
  expect((await linkFor(owner.user.id, { ...owner, client: full })).status).toBe(201);
});

test('the sessions that a token begins end none that another token, a link or a provider began', async () => {
  const { user, token, client } = await member({ role: 'owner' });
  const reading = await client.post(KEYS, { name: 'reading', scopes: ['users:read'] });
  const [byLink, byKey] = [await beginSession(gateway, user.email), await signIn(token)];
  const first = await signIn(reading.body.token);
  for (let count = 0; count < 20; count += 1) expect((await signIn(reading.body.token)).status).toBe(204);
  const statusOf = async (session: { client: Member['client'] }) => (await session.client.get('/api/v1/me')).status;
  await eventually(async () => (await statusOf(first)) === 401);
  expect([await statusOf(byLink), await statusOf(byKey)]).toEqual([200, 200]);
  // Nor do those of people end one that a key began.
  for (let count = 0; count < 20; count += 1) await beginSession(gateway, user.email);
  await eventually(async () => (await statusOf(byLink)) === 401);
  expect(await statusOf(byKey)).toBe(200);
});

test.each([
  ['is revoked', async (path: string) => owner.client.post(`${path}/revoke`)],
  ['is rotated', async (path: string) => owner.client.post(`${path}/rotate`, { overlap_hours: 1 })],
  ['loses a scope', async (path: string) => owner.client.patch(path, { scopes: ['users:read'] }, at(1))],
])('a session that a token began ends when its key %s, and others stay', async (_what, change) => {
  const { key, token, user } = await member({ scopes: ['users:read', 'incidents:read'] });
  const [begun, other] = [await signIn(token), await beginSession(gateway, user.email)];
  const statuses = async () =>
    Promise.all([begun, other].map(async ({ client }) => (await client.get('/api/v1/me')).status));
  expect(await statuses()).toEqual([200, 200]);
  expect((await change(`${KEYS}/${key.id}`)).status).toBeLessThan(300);
  await eventually(async () => (await statuses())[0] === 401);
  expect(await statuses()).toEqual([401, 200]);
});

test('a token that is revoked, of another workspace, or of a session signs nobody in', async () => {
  const { key, token, client } = await member();
  expect((await signIn(token, { workspace: 'other' })).status).toBe(401);
  const session = await signIn(token);
  expect((await signIn(session.cookie.split('=')[1] ?? '')).status).toBe(401);
  await client.post(`${KEYS}/${key.id}/revoke`);
  expect((await signIn(token)).status).toBe(401);
  expect((await signIn('tcs_wrong')).status).toBe(401);
});

test('a token of another user asks before it replaces a session', async () => {
  const [one, other] = [await member(), await member()];
  const { cookie } = await signIn(one.token);
  expect(await signIn(other.token, { cookie })).toMatchObject({
    status: 409,
    body: { details: { signed_in: { email: one.user.email }, link: { email: other.user.email } } },
  });
});
