import { afterAll, expect, test } from '@jest/globals';
import { actingUser, INTERNAL_PATHS } from '@tocsin/schemas';
import { internalClient } from '@tocsin/http';
import { systemClock } from '@tocsin/runtime';
import { asUser, TEST_SECRET_KEYS } from '@tocsin/testing';
import { startGatewayHarness } from '../gateway-harness.ts';

const gateway = await startGatewayHarness();
const { admin } = gateway;
afterAll(async () => gateway.close());

/** Who acts in the chat of a workspace, as a service asks. */
async function ask(workspaceId: number, email: string, self: 'incident' | 'catalog' = 'incident') {
  const to = { urls: [gateway.app.internalUrl], service: 'gateway', secretKeys: TEST_SECRET_KEYS } as const;
  const client = internalClient({ ...to, self });
  const question = { workspace_id: workspaceId, email };
  return (await client.post(INTERNAL_PATHS.actingUsers, question, actingUser)).principal;
}

test('who acts in a chat is the active user with the address, with the rights of now and scopes of a chat', async () => {
  const workspace = 'chatting';
  const { id } = await admin.createWorkspace({ slug: workspace, name: 'Chatting' });
  const ana = { workspace, email: 'Ana@acme.example' };
  const { id: userId } = await admin.createUser({ ...ana, name: 'Ana', role: 'manager', seat: 'responder' });
  expect(await ask(id, 'ana@ACME.example')).toMatchObject({
    ...{ user_id: userId, key_id: 0, key: { name: 'Slack', prefix: 'tcn_slack' }, workspace: { id, slug: workspace } },
    ...{ seat: 'responder', permissions: ['manage_teams'] },
    scopes: ['incidents:read', 'incidents:write', 'restricted:read'],
  });
  await admin.setUser({ ...ana, role: 'member', seat: 'none' });
  expect(await ask(id, ana.email)).toMatchObject({ user_id: userId, seat: 'none', permissions: [] });
});

test('nobody acts without an active user of the workspace, or while it is suspended', async () => {
  const workspace = 'silent';
  const { id } = await admin.createWorkspace({ slug: workspace, name: 'Silent' });
  const { id: other } = await admin.createWorkspace({ slug: 'other', name: 'Other' });
  const ana = { workspace, email: 'ana@acme.example' };
  await admin.createUser({ ...ana, name: 'Ana' });
  expect(await ask(id, 'ben@acme.example')).toBeNull();
  expect(await ask(other, ana.email)).toBeNull();
  await admin.setUser({ ...ana, active: false });
  expect(await ask(id, ana.email)).toBeNull();
  await admin.setUser({ ...ana, active: true });
  expect(await ask(id, ana.email)).not.toBeNull();
  await admin.setWorkspace({ slug: workspace, suspendedAt: systemClock.now() });
  expect(await ask(id, ana.email)).toBeNull();
});

test('only the incident service may ask', async () => {
  await expect(ask(1, 'ana@acme.example', 'catalog')).rejects.toThrow();
  const url = new URL(INTERNAL_PATHS.actingUsers, gateway.app.internalUrl);
  const send = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ workspace_id: 1, email: 'ana@acme.example' });
    return (await fetch(url, { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } }))
      .status;
  };
  expect(await send({})).toBe(401);
  expect(await send(asUser('gateway'))).toBe(401);
});
