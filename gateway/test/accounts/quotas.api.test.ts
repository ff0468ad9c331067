import { afterAll, describe, expect, test } from '@jest/globals';
import type { QuotaName } from '@tocsin/schemas';
import { startGatewayHarness } from '../gateway-harness.ts';

const gateway = await startGatewayHarness();
afterAll(async () => gateway.close());

let workspaces = 0;
const newWorkspace = async (quotas: Partial<Record<QuotaName, number | null>>) => {
  const slug = `quota-${(workspaces += 1)}`;
  await gateway.admin.createWorkspace({ slug, name: slug, quotas });
  return slug;
};
const addUser = async (workspace: string, name: string) =>
  gateway.admin.createUser({ workspace, email: `${name}@example.com`, name });
const addKey = async (workspace: string, user: string, more: object = {}) =>
  gateway.admin.createKey({ workspace, user: `${user}@example.com`, name: 'k', scopes: ['teams:read'], ...more });
const refused = (message: string) => ({
  code: 'invalid_resource_state',
  reason: expect.stringMatching(/^quota_/),
  message: expect.stringContaining(message),
});
const accepted = async (attempts: Promise<unknown>[]) =>
  (await Promise.allSettled(attempts)).filter(({ status }) => status === 'fulfilled').length;

describe('the quotas of a workspace', () => {
  test('are set one by one, unlimited with null, and reset', async () => {
    const slug = await newWorkspace({ teams: 7, storage_mb: null });
    expect((await gateway.admin.getWorkspace(slug)).quotas).toEqual({ teams: 7, storage_mb: null });
    await gateway.admin.setWorkspace({ slug, quotas: { services: 8, teams: 'default' } });
    expect((await gateway.admin.getWorkspace(slug)).quotas).toEqual({ storage_mb: null, services: 8 });
    await gateway.admin.setWorkspace({ slug, name: 'Renamed' });
    expect((await gateway.admin.getWorkspace(slug)).quotas).toEqual({ storage_mb: null, services: 8 });
  });

  test.each([
    [{ subscriptions: 20 }, 'There is no quota subscriptions'],
    [{ teams: -1 }, 'whole number'],
    [{ teams: 1.5 }, 'whole number'],
    [{ teams: 1_000_000_001 }, 'whole number'],
    [{ toString: 1 }, 'There is no quota toString'],
  ])('are refused if they are %j', async (quotas, message) => {
    const input = { slug: 'never', name: 'x', quotas: quotas as object };
    await expect(gateway.admin.createWorkspace(input)).rejects.toMatchObject({
      code: 'invalid_request',
      field: 'quotas',
      message: expect.stringContaining(message),
    });
  });
});

describe('the quota of users', () => {
  test('is exact for concurrent creates', async () => {
    const slug = await newWorkspace({ users: 3 });
    expect(await accepted(Array.from({ length: 8 }, async (_, index) => addUser(slug, `u${index}`)))).toBe(3);
  });

  test('counts the active ones, and activating one needs room', async () => {
    const slug = await newWorkspace({ users: 1 });
    await addUser(slug, 'a');
    const set = async (name: string, active: boolean) =>
      gateway.admin.setUser({ workspace: slug, email: `${name}@example.com`, active });
    await set('a', false);
    await addUser(slug, 'b');
    await expect(set('a', true)).rejects.toMatchObject(refused('at most 1 active users'));
    // An active user stays active.
    expect((await set('b', true)).active).toBe(true);
    await set('b', false);
    expect((await set('a', true)).active).toBe(true);
  });

  test('bounds all of them with the deactivated ones', async () => {
    const slug = await newWorkspace({ users: 1 });
    for (let number = 0; number < 4; number += 1) {
      await addUser(slug, `u${number}`);
      await gateway.admin.setUser({ workspace: slug, email: `u${number}@example.com`, active: false });
    }
    await expect(addUser(slug, 'u4')).rejects.toMatchObject(refused('at most 4 users with the deactivated ones'));
  });
});

describe('the quota of API keys', () => {
  test('is exact for concurrent creates of several users, and a revoked key makes room', async () => {
    const slug = await newWorkspace({ api_keys: 2 });
    await addUser(slug, 'a');
    await addUser(slug, 'b');
    const { key } = await addKey(slug, 'a');
    const attempts = Array.from({ length: 6 }, async (_, index) => addKey(slug, index % 2 === 0 ? 'a' : 'b'));
    expect(await accepted(attempts)).toBe(1);
    await expect(addKey(slug, 'a')).rejects.toMatchObject(refused('at most 2 valid API keys'));
    await gateway.admin.revokeKey(key.id);
    await addKey(slug, 'b');
  });
});

test('a request carries the quotas that were set, and no others', async () => {
  const principalOf = async (slug: string) => {
    await addUser(slug, 'a');
    const { token } = await addKey(slug, 'a', { scopes: ['incidents:read'] });
    const { status } = await gateway.send({ path: '/api/v1/incidents', token, host: `${slug}.localhost` });
    expect(status).toBe(200);
    return gateway.lastReceived.principal;
  };
  expect((await principalOf(await newWorkspace({ services: 3, incidents: null })))?.workspace.quotas).toEqual({
    services: 3,
    incidents: null,
  });
  expect((await principalOf(await newWorkspace({})))?.workspace).not.toHaveProperty('quotas');
});
