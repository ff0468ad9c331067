import { afterAll, describe, expect, test } from '@jest/globals';
import { openGatewayDatabase } from '../../src/administration.ts';
import { recordSeen, userStore } from '../../src/accounts/store/user-store.ts';
import { startGatewayHarness } from '../gateway-harness.ts';
import { at, beginSession, clientOf, memberOf, USERS } from '../members.ts';

const [FIRST, SECOND, LATER] = ['12:34', '12:35', '12:36'].map((minute) => `2026-11-20T${minute}:00.000Z`) as [
  string,
  string,
  string,
];
/** Moves, by the tests. */
let now = FIRST;
const options = { env: { RATE_LIMIT_PER_MINUTE: '100000' }, overrides: { clock: { now: () => now } } };
const gateway = await startGatewayHarness(options);
const owner = await memberOf(gateway, { role: 'owner' });
afterAll(async () => gateway.close());

const seen = async (id: number, { client } = owner) => (await client.get(`${USERS}/${id}`)).body.user.last_seen_at;
/** Another gateway of the installation. */
const another = async () => startGatewayHarness({ ...options, database: gateway.database });

describe('when a user was last seen', () => {
  test('is the minute of the last request with any key or session, and changes no revision', async () => {
    now = FIRST;
    const { user, client } = await memberOf(gateway);
    const before = (await owner.client.get(`${USERS}/${user.id}`)).body.user;
    expect(before.last_seen_at).toBeNull();
    now = '2026-11-20T12:34:56.789Z';
    // Also one that is refused, as any after its authentication.
    expect((await client.get('/api/v1/nothing')).status).toBe(404);
    expect((await owner.client.get(`${USERS}/${user.id}`)).body.user).toEqual({ ...before, last_seen_at: FIRST });
    now = SECOND;
    await beginSession(gateway, user.email);
    expect(await seen(user.id)).toBe(SECOND);
    now = FIRST;
    await client.get('/api/v1/me');
    expect([FIRST, SECOND]).toContain(await seen(user.id));
  });

  test('is shown to those alone who manage users, in every reply', async () => {
    const manager = await memberOf(gateway, { role: 'manager' });
    const { user } = await memberOf(gateway);
    const listed = async ({ client }: typeof owner) =>
      (await client.get(`${USERS}?q=${encodeURIComponent(user.email)}`)).body.users[0];
    expect(await listed(owner)).toHaveProperty('last_seen_at', null);
    expect(await listed(manager)).not.toHaveProperty('last_seen_at');
    expect((await manager.client.get(`${USERS}/${manager.user.id}`)).body.user).not.toHaveProperty('last_seen_at');
    const changed = await owner.client.patch(`${USERS}/${user.id}`, { name: 'Changed' }, at(1));
    expect(changed.body.user).toHaveProperty('last_seen_at', null);
    const created = await owner.client.post(USERS, { email: 'unseen@acme.example', name: 'Unseen' });
    expect(created.body.user).toHaveProperty('last_seen_at', null);
  });

  test('is the same for all gateways of an installation in the end, and never goes back', async () => {
    now = FIRST;
    const { user, token, client } = await memberOf(gateway);
    const [second, third] = [await another(), await another()];
    await client.get('/api/v1/me');
    now = SECOND;
    await clientOf(second, token).get('/api/v1/me');
    now = LATER;
    await second.close();
    // The first gateway has not yet stored the earlier use, of which the others do not know.
    expect(await seen(user.id)).toBe(SECOND);
    now = FIRST;
    await clientOf(third, token).get('/api/v1/me');
    await third.close();
    expect(await seen(user.id)).toBe(SECOND);
    now = LATER;
    const { user: stored } = (await clientOf(gateway, owner.token).get(`${USERS}/${user.id}`)).body;
    expect(stored).toMatchObject({ last_seen_at: SECOND, revision: 1 });
  });

  test('stays when a user is deactivated, and is taken from an erased one for good', async () => {
    now = FIRST;
    const second = await another();
    const [leaver, erased] = [await memberOf(gateway), await memberOf(gateway)];
    const stored = await another();
    for (const { token } of [leaver, erased]) await clientOf(stored, token).get('/api/v1/me');
    await stored.close();
    now = SECOND;
    for (const { token } of [leaver, erased]) await clientOf(second, token).get('/api/v1/me');
    for (const { client } of [leaver, erased]) await client.get('/api/v1/me');
    await owner.client.patch(`${USERS}/${leaver.user.id}`, { active: false }, at(1));
    await owner.client.post(`${USERS}/${erased.user.id}/erase`, { confirmation: erased.user.email });
    expect([await seen(leaver.user.id), await seen(erased.user.id)]).toEqual([SECOND, null]);
    await second.close();
    expect([await seen(leaver.user.id), await seen(erased.user.id)]).toEqual([SECOND, null]);
  });

  test('is stored later for a user whom a command has locked, and keeps nobody waiting', async () => {
    const [free, locked] = [await memberOf(gateway), await memberOf(gateway)];
    const open = () => openGatewayDatabase({ GATEWAY_DATABASE_URL: gateway.database.url('gateway') });
    const [knex, command] = [open(), open()];
    const useOf = ({ user: { id, workspaceId } }: typeof free) => ({ id, workspaceId, minute: FIRST });
    const uses = [useOf(locked), useOf(free)];
    await command.transaction(async (trx) => {
      await userStore(trx).change(locked.user, { name: 'Locked' }, { version: 1, now: FIRST });
      expect(await recordSeen(knex, uses)).toEqual([useOf(locked)]);
    });
    expect(await recordSeen(knex, uses)).toEqual([]);
    for (const { user } of [free, locked])
      expect(await userStore(knex).find(user.workspaceId, user.id)).toMatchObject({ lastSeenAt: FIRST });
    await command.destroy();
    await knex.destroy();
  });
});
