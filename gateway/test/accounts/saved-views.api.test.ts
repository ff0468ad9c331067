import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openGatewayDatabase } from '../../src/administration.ts';
import { startGatewayHarness } from '../gateway-harness.ts';
import { at, beginSession, clientOf, KEYS, type Member, memberOf, USERS } from '../members.ts';

const VIEWS = '/api/v1/users/me/views';

const gateway = await startGatewayHarness({ env: { RATE_LIMIT_PER_MINUTE: '100000' } });
afterAll(async () => gateway.close());

let owner: Member;
let viewer: Member;
beforeAll(async () => {
  owner = await memberOf(gateway, { role: 'owner' });
  viewer = await memberOf(gateway, { role: 'viewer', scopes: ['incidents:read', 'users:write'] });
});
const view = (name: string, search = '{"days":90}') => ({ name, search });

test('views are kept for their user, who has them with every key and session, and come back as they were written', async () => {
  expect((await viewer.client.get(VIEWS)).body).toEqual({ saved_views: { revision: 1, views: [] } });
  const views = [view('  Mine 🔥 ', ' ?a=1&b=\n"\u202e" '), view('ملكي'), view('Mine 🔥', '')];
  const stored = await viewer.client.put(VIEWS, { views }, at(1));
  const saved = { revision: 2, views: [{ ...views[0], name: 'Mine 🔥' }, views[1], views[2]] };
  expect(stored).toMatchObject({ status: 200, body: { saved_views: saved } });
  expect(stored.headers.get('Service-Resource-Version')).toBe('2');
  const session = await beginSession(gateway, viewer.user.email);
  expect((await session.client.get(VIEWS)).body).toEqual({ saved_views: saved });
  expect((await session.client.put(VIEWS, { views: [view('Other')] }, at(2))).status).toBe(200);
  expect((await viewer.client.get(VIEWS)).body.saved_views).toEqual({ revision: 3, views: [view('Other')] });
  expect((await viewer.client.put(VIEWS, { views: [] }, at(3))).body.saved_views).toEqual({ revision: 4, views: [] });
  expect((await viewer.client.put(VIEWS, { views: [] }, at(4))).body.saved_views).toEqual({ revision: 4, views: [] });
});

test('nobody else has them, in the workspace or in another one', async () => {
  await gateway.admin.createWorkspace({ slug: 'globex', name: 'Globex' });
  const other = await memberOf(gateway, { workspace: 'globex', role: 'owner' });
  expect((await owner.client.put(VIEWS, { views: [view('Of the owner')] }, at(1))).status).toBe(200);
  for (const client of [viewer.client, other.client])
    expect(JSON.stringify((await client.get(VIEWS)).body)).not.toContain('Of the owner');
  expect((await clientOf(gateway, owner.token, 'globex').get(VIEWS)).status).toBe(401);
});

test('of two who replace the same views, the second one is refused', async () => {
  const { client } = await memberOf(gateway, { scopes: ['incidents:read', 'users:write'] });
  const both = await Promise.all(['A', 'B'].map(async (name) => client.put(VIEWS, { views: [view(name)] }, at(1))));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  expect(both.find(({ status }) => status === 412)?.body).toMatchObject({ code: 'precondition_failed' });
  const next = await Promise.all(['C', 'D'].map(async (name) => client.put(VIEWS, { views: [view(name)] }, at(2))));
  expect(next.map(({ status }) => status).sort()).toEqual([200, 412]);
  expect((await client.put(VIEWS, { views: [] }, at(9))).status).toBe(412);
  expect((await client.put(VIEWS, { views: [] })).status).toBe(428);
});

test.each([
  ['more than 50', { views: Array.from({ length: 51 }, (_, index) => view(`${index}`)) }, 'views'],
  ['a long name', { views: [view('n'.repeat(61))] }, 'views.0.name'],
  ['a blank name', { views: [view('a'), view(' ')] }, 'views.1.name'],
  ['a long search', { views: [view('a', 's'.repeat(2_049))] }, 'views.0.search'],
  ['no list', {}, 'views'],
  ['another property', { views: [], shared: true }, 'shared'],
])('%s is refused, and names the field', async (_, body, field) => {
  const { body: error, status } = await viewer.client.put(VIEWS, body, at(1));
  expect({ status, field: error.field }).toEqual({ status: 400, field });
});

test('the largest list is stored', async () => {
  const { client } = await memberOf(gateway, { scopes: ['incidents:read', 'users:write'] });
  const views = Array.from({ length: 50 }, (_, index) => view(`${index}`.padEnd(60, '名'), '値'.repeat(2_048)));
  expect((await client.put(VIEWS, { views }, at(1))).body.saved_views.views).toEqual(views);
});

test.each([
  ['users:write', 'incidents:read', 'get'],
  ['incidents:read', 'users:write', 'put'],
] as const)('a key with %s only lacks %s', async (scope, required, method) => {
  const { token } = (await owner.client.post(KEYS, { name: 'x', scopes: [scope] })).body;
  const client = clientOf(gateway, token);
  const { body } = method === 'get' ? await client.get(VIEWS) : await client.put(VIEWS, { views: [] }, at(1));
  expect(body).toMatchObject({ code: 'missing_scope', details: { required_scope: required } });
});

test('they go with a user who is erased', async () => {
  const leaver = await memberOf(gateway, { scopes: ['incidents:read', 'users:write'] });
  await leaver.client.put(VIEWS, { views: [view('Of the leaver')] }, at(1));
  const { id, email, workspaceId } = leaver.user;
  expect((await owner.client.post(`${USERS}/${id}/erase`, { confirmation: email })).status).toBe(200);
  const database = openGatewayDatabase({ GATEWAY_DATABASE_URL: gateway.database.url('gateway') });
  expect(await database('saved_views').where({ workspace_id: workspaceId, user_id: id })).toEqual([]);
  await database.destroy();
});
