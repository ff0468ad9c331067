import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPES } from '@tocsin/schemas';
import { addMilliseconds, systemClock } from '@tocsin/runtime';
import type { Answer, Client } from '@tocsin/testing';
import { openGatewayDatabase } from '../../src/administration.ts';
import { startGatewayHarness } from '../gateway-harness.ts';
import { at, clientOf, KEYS, type Member, memberOf } from '../members.ts';

const HOUR = 3_600_000;
/** Moves forward, by tests that need it. */
let now = systemClock.now();
const gateway = await startGatewayHarness({
  env: { RATE_LIMIT_PER_MINUTE: '100000' },
  overrides: { clock: { now: () => now } },
});
const owner = await memberOf(gateway, { role: 'owner' });
afterAll(async () => gateway.close());

const once = (key: string) => ({ 'Idempotency-Key': key });
const newKey = (more: object = {}) => ({ name: 'ci', scopes: ['incidents:read'], ...more });
const create = async (more: object = {}, { client } = owner) => client.post(KEYS, newKey(more));
const works = async (token: string) => (await clientOf(gateway, token).get('/api/v1/me')).status === 200;
const refusal = async (answer: Promise<Answer>) => {
  const { status, body } = await answer;
  return [status, body.code];
};

describe('a key', () => {
  test('is created with a token that works within its scopes, and is shown without it', async () => {
    const expiresAt = addMilliseconds(now, HOUR);
    const created = await create({
      name: ' Status page ',
      scopes: ['services:read', 'incidents:read'],
      expires_at: expiresAt,
    });
    expect(created.status).toBe(201);
    const { api_key: key, token } = created.body;
    expect(created.body).toEqual({
      api_key: {
        id: expect.any(Number),
        revision: 1,
        name: 'Status page',
        prefix: token.slice(0, 8),
        user_id: owner.user.id,
        scopes: ['incidents:read', 'services:read'],
        created_at: now,
        expires_at: expiresAt,
        last_used_at: null,
        revoked_at: null,
      },
      token: expect.stringMatching(/^tcs_\w{49}$/),
    });
    expect((await owner.client.get(`${KEYS}/${key.id}`)).body).toEqual({ api_key: key });
    const client = clientOf(gateway, token);
    expect((await client.get('/api/v1/incidents')).status).toBe(200);
    expect(await refusal(client.post('/api/v1/incidents', { title: 'x' }))).toEqual([403, 'missing_scope']);
    const used = `${now.slice(0, 16)}:00.000Z`;
    expect((await owner.client.get(`${KEYS}/${key.id}`)).body.api_key.last_used_at).toBe(used);
    now = expiresAt;
    expect(await works(token)).toBe(false);
  });

  test('is made for another user by whoever may manage settings', async () => {
    const { user } = await memberOf(gateway);
    const { body } = await create({ user_id: user.id });
    expect(body.api_key.user_id).toBe(user.id);
    expect((await clientOf(gateway, body.token).get('/api/v1/me')).body.user.id).toBe(user.id);
    const { client } = await memberOf(gateway, { role: 'manager' });
    expect(await refusal(client.post(KEYS, newKey({ user_id: user.id })))).toEqual([403, 'missing_role_permission']);
    expect((await client.post(KEYS, newKey())).status).toBe(201);
  });

  test('is created once for an Idempotency-Key, and its token is not stored in plain text', async () => {
    const headers = { 'Idempotency-Key': 'key-once' };
    const first = await owner.client.post(KEYS, newKey(), headers);
    const second = await owner.client.post(KEYS, newKey(), headers);
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(second.headers.get('Idempotency-Replayed')).toBe('true');
    expect(await works(second.body.token)).toBe(true);
    const knex = openGatewayDatabase({ GATEWAY_DATABASE_URL: gateway.database.url('gateway') });
    const rows = await knex('idempotency_keys').select<{ body: string }[]>('body');
    await knex.destroy();
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter(({ body }) => body.includes(first.body.token.slice(8)))).toEqual([]);
  });

  test.each([
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', 'invalid_request'],
    [{ user_id: 9_007_199_254_740_991 }, 'user_id', 'invalid_request'],
  ])('is not created with %j', async (more, field, code) => {
    const { status, body } = await create(more);
    expect([status, body.code, body.field]).toEqual([400, code, field]);
  });

  test('is not created for a deactivated user or one of another workspace', async () => {
    const { user } = await memberOf(gateway);
    await gateway.admin.setUser({ workspace: 'acme', email: user.email, active: false });
    await gateway.admin.createWorkspace({ slug: 'key-stranger', name: 'S' });
    const stranger = await memberOf(gateway, { workspace: 'key-stranger' });
    for (const id of [user.id, stranger.user.id]) {
      expect(await create({ user_id: id })).toMatchObject({ status: 400, body: { field: 'user_id' } });
    }
  });

  test('is renamed, and loses scopes at once', async () => {
    const { api_key: key, token } = (await create({ scopes: ['incidents:read', 'services:read'] })).body;
    const path = `${KEYS}/${key.id}`;
    const client = clientOf(gateway, token);
    expect((await client.get('/api/v1/services')).status).toBe(200);
    const changed = await owner.client.patch(path, { name: 'New', scopes: ['incidents:read'] }, at(1));
    expect(changed.body.api_key).toMatchObject({ name: 'New', scopes: ['incidents:read'], revision: 2 });
    expect((await client.get('/api/v1/services')).status).toBe(403);
    expect((await owner.client.patch(path, { name: 'New' }, at(2))).body.api_key.revision).toBe(2);
    expect(await owner.client.patch(path, { scopes: ['services:read'] }, at(2))).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', field: 'scopes' },
    });
    expect((await owner.client.patch(path, { name: 'x' }, at(1))).body.details).toEqual({ current_revision: 2 });
    expect((await owner.client.patch(path, { name: 'x' })).status).toBe(428);
    expect((await owner.client.patch(path, { user_id: 1 }, at(2))).body.field).toBe('user_id');
  });

  test('is rotated: a new token at once, the old one as long as asked', async () => {
    for (const [body, remains] of [
      [undefined, false],
      [{}, false],
      [{ overlap_hours: 0 }, false],
      [{ overlap_hours: 2 }, true],
    ] as const) {
      const { api_key: key, token } = (await create({ scopes: ['services:read'] })).body;
      const { status, body: rotated } = await owner.client.post(`${KEYS}/${key.id}/rotate`, body);
      expect(status).toBe(200);
      expect(rotated.api_key).toMatchObject({ name: 'ci', scopes: ['services:read'], user_id: owner.user.id });
      expect(rotated.api_key.id).not.toBe(key.id);
      expect([await works(rotated.token), await works(token)]).toEqual([true, remains]);
      const old = (await owner.client.get(`${KEYS}/${key.id}`)).body.api_key;
      expect(old.revoked_at === null).toBe(remains);
      if (remains) {
        expect(old.expires_at).toBe(addMilliseconds(now, 2 * HOUR));
        now = old.expires_at;
        expect(await works(token)).toBe(false);
      }
      expect(await refusal(owner.client.post(`${KEYS}/${key.id}/rotate`, {}))).toEqual([409, 'invalid_resource_state']);
    }
    const { id } = (await create()).body.api_key;
    for (const overlap of [-1, 25, 1.5, '2', null]) {
      const { body } = await owner.client.post(`${KEYS}/${id}/rotate`, { overlap_hours: overlap });
      expect([body.code, body.field]).toEqual(['invalid_request', 'overlap_hours']);
    }
  });

  test('is revoked for good, and again without an effect', async () => {
    const { api_key: key, token } = (await create()).body;
    const first = await owner.client.post(`${KEYS}/${key.id}/revoke`);
    expect(first.body.api_key).toEqual({ ...key, revision: 2, revoked_at: now });
    expect(await works(token)).toBe(false);
    now = addMilliseconds(now, 60_000);
    expect((await owner.client.post(`${KEYS}/${key.id}/revoke`, {})).body).toEqual(first.body);
    const ended = [409, 'invalid_resource_state'];
    expect(await refusal(owner.client.patch(`${KEYS}/${key.id}`, { name: 'x' }, at(2)))).toEqual(ended);
    expect(await refusal(owner.client.post(`${KEYS}/${key.id}/rotate`))).toEqual(ended);
  });
});

describe('the list of keys', () => {
  let first: Member;
  let second: Member;
  const idsOf = async ({ client }: Member, query = '') => {
    const { status, body } = await client.get(`${KEYS}${query}`);
    expect(status).toBe(200);
    return (body.api_keys as { id: number }[]).map(({ id }) => id);
  };
  beforeAll(async () => {
    await gateway.admin.createWorkspace({ slug: 'listed', name: 'L' });
    first = await memberOf(gateway, { workspace: 'listed', role: 'admin' });
    second = await memberOf(gateway, { workspace: 'listed' });
  });

  test('has the keys of all for who may manage settings, and their own for others, page after page', async () => {
    const mine = (await first.client.post(KEYS, newKey())).body.api_key.id as number;
    const all = [first.key.id, mine, second.key.id];
    expect(await idsOf(first)).toEqual(all);
    expect(await idsOf(second)).toEqual([second.key.id]);
    const pages: number[] = [];
    let query = '?limit=1';
    for (;;) {
      const { body } = await first.client.get(`${KEYS}${query}`);
      pages.push(...(body.api_keys as { id: number }[]).map(({ id }) => id));
      if (body.pagination.has_more !== true) break;
      query = `?limit=1&cursor=${body.pagination.next_cursor}`;
      expect((await second.client.get(`${KEYS}${query}`)).body.field).toBe('cursor');
    }
    expect(pages).toEqual(all);
    await first.client.post(`${KEYS}/${mine}/revoke`);
    expect(await idsOf(first)).toEqual(all);
  });

  test('and all other operations show a member nothing of the keys of others, nor of other workspaces', async () => {
    for (const [client, id] of [
      [second.client, first.key.id],
      [first.client, owner.key.id],
      [owner.client, first.key.id],
      [first.client, 9_007_199_254_740_991],
    ] as const) {
      for (const answer of [
        client.get(`${KEYS}/${id}`),
        client.patch(`${KEYS}/${id}`, { name: 'x' }, at(1)),
        client.post(`${KEYS}/${id}/rotate`),
        client.post(`${KEYS}/${id}/revoke`),
      ]) {
        expect(await refusal(answer)).toEqual([404, 'not_found']);
      }
    }
    expect((await second.client.get('/api/v1/me')).status).toBe(200);
  });
});

describe('nobody gets more than they have', () => {
  test('a key makes none with scopes that it lacks', async () => {
    const narrow = await memberOf(gateway, { role: 'owner', scopes: ['api_keys:manage', 'incidents:read'] });
    const { status, body } = await narrow.client.post(KEYS, newKey({ scopes: ['incidents:read', 'users:write'] }));
    expect([status, body.code, body.field, body.details]).toEqual([
      403,
      'missing_scope',
      'scopes',
      { required_scope: 'users:write' },
    ]);
    expect((await narrow.client.post(KEYS, newKey({ scopes: ['incidents:read'] }))).status).toBe(201);
    // Neither by a rotation of a wider key of the same user, nor by a change of its own.
    const email = narrow.user.email;
    const wide = await gateway.admin.createKey({ workspace: 'acme', user: email, name: 'wide', scopes: SCOPES });
    const denied = [403, 'missing_scope'];
    expect(await refusal(narrow.client.post(`${KEYS}/${wide.key.id}/rotate`))).toEqual(denied);
    const widened = narrow.client.patch(`${KEYS}/${narrow.key.id}`, { scopes: SCOPES }, at(1));
    expect(await refusal(widened)).toEqual(denied);
    // What takes something away is allowed.
    expect((await narrow.client.patch(`${KEYS}/${wide.key.id}`, { scopes: ['teams:read'] }, at(1))).status).toBe(200);
    expect((await narrow.client.post(`${KEYS}/${wide.key.id}/revoke`)).status).toBe(200);
  });

  test('a repeated request reveals no token that its key could not make now', async () => {
    const wide = await memberOf(gateway, { role: 'owner' });
    const keyOf = async (options: { scopes: readonly string[]; expires?: string }) => {
      const key = await gateway.admin.createKey({
        workspace: 'acme',
        user: wide.user.email,
        name: 'other',
        ...options,
      });
      return clientOf(gateway, key.token);
    };
    const narrow = await keyOf({ scopes: ['api_keys:manage'] });
    const brief = await keyOf({ scopes: SCOPES, expires: addMilliseconds(now, 60_000) });
    const same = await keyOf({ scopes: SCOPES });
    const path = `${KEYS}/${(await create({ scopes: ['users:write'] }, wide)).body.api_key.id}/rotate`;
    const colleague = await memberOf(gateway);
    for (const [name, send] of [
      ['create', async (client: Client) => client.post(KEYS, newKey({ scopes: ['users:write'] }), once('create'))],
      ['rotate', async (client: Client) => client.post(path, {}, once('rotate'))],
      [
        'create for another',
        async (client: Client) => client.post(KEYS, newKey({ user_id: colleague.user.id }), once('create-for')),
      ],
    ] as const) {
      const made = await send(wide.client);
      expect([name, made.body.token]).toEqual([name, expect.stringMatching(/^tcs_/)]);
      expect([name, await refusal(send(narrow))]).toEqual([name, [403, 'missing_scope']]);
      expect([name, await refusal(send(brief))]).toEqual([name, [403, 'permission_denied']]);
      expect([name, (await send(same)).text]).toEqual([name, made.text]);
    }
    // A user who lost the right to make keys for others.
    await gateway.admin.setUser({ workspace: 'acme', email: wide.user.email, role: 'manager' });
    const repeated = wide.client.post(KEYS, newKey({ user_id: colleague.user.id }), once('create-for'));
    expect(await refusal(repeated)).toEqual([403, 'missing_role_permission']);
    expect((await wide.client.post(path, {}, once('rotate'))).status).toBe(200);
  });

  test('a key makes none that outlives it', async () => {
    const expiresAt = addMilliseconds(now, HOUR);
    const brief = async (role: 'owner' | 'member') => {
      const { user } = await memberOf(gateway, { role });
      const options = { workspace: 'acme', user: user.email, name: 'brief', scopes: SCOPES, expires: expiresAt };
      const made = await gateway.admin.createKey(options);
      const lasting = await gateway.admin.createKey({ ...options, name: 'lasting', expires: undefined });
      return { client: clientOf(gateway, made.token), key: made.key, lasting: lasting.key };
    };
    for (const role of ['owner', 'member'] as const) {
      const { client, key, lasting } = await brief(role);
      const made = await client.post(KEYS, newKey());
      expect([made.status, made.body.api_key.expires_at]).toEqual([201, expiresAt]);
      const earlier = addMilliseconds(now, 60_000);
      expect((await client.post(KEYS, newKey({ expires_at: earlier }))).body.api_key.expires_at).toBe(earlier);
      expect((await client.post(KEYS, newKey({ expires_at: expiresAt }))).status).toBe(201);
      for (const later of [addMilliseconds(expiresAt, 1), null]) {
        const { status, body } = await client.post(KEYS, newKey({ expires_at: later }));
        expect([status, body.code, body.field]).toEqual([400, 'invalid_request', 'expires_at']);
        expect(body.message).toContain(expiresAt);
      }
      // Neither by a rotation of a key that lasts, nor by one of its own.
      const rotated = await client.post(`${KEYS}/${lasting.id}/rotate`, {});
      expect([rotated.status, rotated.body.code, rotated.body.details]).toEqual([
        403,
        'permission_denied',
        { latest_expires_at: expiresAt },
      ]);
      const patched = await client.patch(`${KEYS}/${key.id}`, { expires_at: null }, at(1));
      expect([patched.status, patched.body.field]).toEqual([400, 'expires_at']);
      const own = await client.post(`${KEYS}/${key.id}/rotate`, { overlap_hours: 24 });
      expect([own.status, own.body.api_key.expires_at]).toEqual([200, expiresAt]);
      expect((await owner.client.get(`${KEYS}/${key.id}`)).body.api_key.expires_at).toBe(expiresAt);
    }
  });

  test('an admin gets no key of an owner', async () => {
    const { client } = await memberOf(gateway, { role: 'admin' });
    const target = await memberOf(gateway, { role: 'owner' });
    const path = `${KEYS}/${target.key.id}`;
    for (const answer of [
      client.post(KEYS, newKey({ user_id: target.user.id })),
      client.patch(path, { name: 'x' }, at(1)),
      client.post(`${path}/rotate`),
      client.post(`${path}/revoke`),
    ]) {
      expect(await refusal(answer)).toEqual([403, 'permission_denied']);
    }
    expect((await client.get(path)).status).toBe(200);
    expect((await target.client.get('/api/v1/me')).status).toBe(200);
  });

  test('a workspace has as many valid keys as its quota allows, however many requests come at once', async () => {
    await gateway.admin.createWorkspace({ slug: 'keys-quota', name: 'Q', quotas: { api_keys: 4 } });
    const member = await memberOf(gateway, { workspace: 'keys-quota', role: 'owner' });
    const answers = await Promise.all(Array.from({ length: 6 }, async () => create({}, member)));
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, 201, 201, 409, 409, 409]);
    const { id } = answers.find(({ status }) => status === 201)?.body.api_key as { id: number };
    // Both tokens of an overlap are valid.
    const rotate = async (hours: number) => member.client.post(`${KEYS}/${id}/rotate`, { overlap_hours: hours });
    expect(await refusal(rotate(1))).toEqual([409, 'invalid_resource_state']);
    expect((await rotate(0)).status).toBe(200);
  });
});
