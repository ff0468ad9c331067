import { afterAll, expect, test } from '@jest/globals';
import { QUOTAS, SCOPES } from '@tocsin/schemas';
import { asUser, httpClient } from '@tocsin/testing';
import { startGatewayHarness } from '../gateway-harness.ts';
import { clientOf, memberOf } from '../members.ts';

const NOW = '2026-11-20T12:34:56.789Z';
const MINUTE = '2026-11-20T12:34:00.000Z';
const ME = '/api/v1/me';

const gateway = await startGatewayHarness({ overrides: { clock: { now: () => NOW } } });
afterAll(async () => gateway.close());

test('a caller learns who they are, what they may do, and what the workspace has left', async () => {
  const { user, key, client } = await memberOf(gateway, { role: 'manager', seat: 'responder' });
  const { status, body } = await client.get(ME);
  expect(status).toBe(200);
  const { id } = await gateway.admin.getWorkspace('acme');
  expect(body).toEqual({
    installation_id: expect.stringMatching(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/),
    workspace: { id, slug: 'acme', name: 'Acme', demo: false, short_title_required: false, chat: null },
    user: { id: user.id, email: user.email, name: user.name, role: 'manager', seat: 'responder', active: true },
    permissions: ['manage_teams'],
    api_key: {
      id: key.id,
      name: 'test',
      prefix: key.shown,
      scopes: [...SCOPES],
      created_at: key.createdAt,
      expires_at: null,
      last_used_at: MINUTE,
    },
    quotas: Object.entries(QUOTAS).map(([name, limit]) => ({
      name,
      used: name === 'users' || name === 'api_keys' ? 1 : null,
      limit,
    })),
  });
});

test('an installation has one ID, which all its gateways show, and another one has another', async () => {
  const [one, other] = [await memberOf(gateway), await memberOf(gateway)];
  const second = await startGatewayHarness({ database: gateway.database });
  const elsewhere = await startGatewayHarness();
  const idOf = async (client: typeof one.client) => (await client.get(ME)).body.installation_id;
  // The first requests make it.
  const ids = await Promise.all([idOf(one.client), idOf(clientOf(second, other.token)), idOf(other.client)]);
  expect(new Set(ids).size).toBe(1);
  expect(await idOf((await memberOf(elsewhere)).client)).not.toBe(ids[0]);
  await second.close();
  await elsewhere.close();
});

test.each([
  ['owner', ['manage_settings', 'manage_teams', 'view_restricted', 'delete_permanently']],
  ['admin', ['manage_settings', 'manage_teams']],
  ['manager', ['manage_teams']],
  ['member', []],
  ['viewer', []],
] as const)('the role %s gives the permissions %j', async (role, permissions) => {
  const { client } = await memberOf(gateway, { role, seat: 'responder' });
  expect((await client.get(ME)).body.permissions).toEqual(permissions);
  const created = await client.post('/api/v1/teams', { title: 'x' });
  expect(created.status).toBe(permissions.length > 0 ? 201 : 403);
});

test.each(SCOPES)('a key with no scope but %s may ask', async (scope) => {
  const { client } = await memberOf(gateway, { role: 'viewer', scopes: [scope] });
  expect((await client.get(ME)).status).toBe(200);
});

test('what is used of quotas counts active users and valid keys of this workspace', async () => {
  await gateway.admin.createWorkspace({ slug: 'counted', name: 'C', quotas: { users: 7, api_keys: null } });
  const { client } = await memberOf(gateway, { workspace: 'counted' });
  const second = await memberOf(gateway, { workspace: 'counted' });
  const third = await memberOf(gateway, { workspace: 'counted' });
  await gateway.admin.setUser({ workspace: 'counted', email: second.user.email, active: false });
  await gateway.admin.revokeKey(third.key.id);
  const { body } = await client.get(ME);
  expect(body.quotas).toEqual(
    expect.arrayContaining([
      { name: 'users', used: 2, limit: 7 },
      { name: 'api_keys', used: 2, limit: null },
    ]),
  );
});

test('the last use of a key is stored when the gateway stops', async () => {
  const second = await startGatewayHarness({
    database: gateway.database,
    overrides: { clock: { now: () => NOW } },
  });
  const { key, token } = await memberOf(second);
  await clientOf(second, token).get('/api/v1/incidents');
  expect((await gateway.admin.getKey(key.id)).lastUsedAt).toBeNull();
  await second.app.stop();
  expect((await gateway.admin.getKey(key.id)).lastUsedAt).toBe(MINUTE);
  await second.close();
});

test('the internal server serves the operations to nobody but the gateway itself', async () => {
  const { user, key, token } = await memberOf(gateway, { role: 'owner' });
  const identity = { user_id: user.id, key_id: key.id, workspace: { id: user.workspaceId } };
  for (const headers of [{}, { Authorization: `Bearer ${token}` }, asUser('incident', identity)]) {
    const { status, body } = await httpClient(gateway.app.internalUrl, headers).get(ME);
    expect([status, body.code]).toEqual([401, 'authentication_required']);
  }
  const { status } = await httpClient(gateway.app.internalUrl, asUser('gateway', identity)).get(ME);
  expect(status).toBe(200);
  // The public server drops the headers of a client that only the gateway may send.
  const forged = clientOf(gateway, token).with({ ...asUser('gateway', { ...identity, user_id: 999_999 }) });
  expect((await forged.get(ME)).body.user.id).toBe(user.id);
});

test('the description and the reference have the operations of the gateway', async () => {
  const { body } = await httpClient(gateway.app.url).get('/api/v1/openapi.json');
  expect(body.paths).toHaveProperty([ME, 'get', 'operationId'], 'getMe');
  expect(body.paths).toHaveProperty(['/api/v1/incidents']);
});
