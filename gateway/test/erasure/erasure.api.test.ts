import { afterAll, expect, test } from '@jest/globals';
import { startGatewayHarness } from '../gateway-harness.ts';
import { at, KEYS, memberOf, USERS } from '../members.ts';

const gateway = await startGatewayHarness({ env: { RATE_LIMIT_PER_MINUTE: '100000' } });
afterAll(async () => gateway.close());

test('only an owner erases a user, by the address, and never the last owner', async () => {
  const owner = await memberOf(gateway, { workspace: 'acme', role: 'owner' });
  const admin = await memberOf(gateway, { role: 'admin' });
  const erase = async (by: typeof owner, id: number, confirmation: string) =>
    by.client.post(`${USERS}/${id}/erase`, { confirmation });
  expect((await erase(admin, admin.user.id, admin.user.email)).body.code).toBe('missing_role_permission');
  expect((await admin.client.get(`${USERS}/${admin.user.id}/data`)).body.code).toBe('missing_role_permission');
  expect((await erase(owner, admin.user.id, 'other@acme.example')).body).toMatchObject({
    ...{ code: 'invalid_request', field: 'confirmation' },
  });
  expect((await erase(owner, owner.user.id, owner.user.email)).body).toMatchObject({
    ...{ code: 'invalid_resource_state', details: { last_owner_id: owner.user.id } },
  });
  const command = { workspace: 'acme', email: owner.user.email, confirmation: owner.user.email };
  await expect(gateway.admin.eraseUser(command)).rejects.toThrow('last active owner');
});

test('an erased user is nobody: without keys, sessions and a way back', async () => {
  const owner = await memberOf(gateway, { role: 'owner' });
  const leaver = await memberOf(gateway, { role: 'admin' });
  const { id, email } = leaver.user;
  const erased = await owner.client.post(`${USERS}/${id}/erase`, { confirmation: email.toUpperCase() });
  expect(erased).toMatchObject({ status: 200, body: { erasure: { user_id: id, completed_at: null } } });
  expect((await leaver.client.get('/api/v1/me')).status).toBe(401);
  const { user } = (await owner.client.get(`${USERS}/${id}`)).body;
  expect(user).toMatchObject({ name: `Former user ${id}`, active: false, role: 'viewer', seat: 'none', revision: 2 });
  const back = await owner.client.patch(`${USERS}/${id}`, { active: true }, at(2));
  expect(back.body.code).toBe('invalid_resource_state');
  await expect(gateway.admin.setUser({ workspace: 'acme', email: user.email as string, active: true })).rejects.toThrow(
    'was erased',
  );
  expect((await owner.client.post(KEYS, { name: 'x', scopes: ['users:read'], user_id: id })).status).toBe(400);
  // A repetition needs no address: there is none any longer.
  const again = await owner.client.post(`${USERS}/${id}/erase`, { confirmation: 'x' });
  expect(again.body.erasure).toMatchObject({ user_id: id, requested_at: erased.body.erasure.requested_at });
  // The address is free.
  expect((await owner.client.post(USERS, { email, name: 'Another' })).status).toBe(201);
});
