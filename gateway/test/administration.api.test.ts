import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Envelope, eventData, INTERNAL_PATHS, QUEUES, userChanges } from '@tocsin/contracts';
import { internalClient, PRINCIPAL_PURPOSE } from '@tocsin/http';
import { openKeyring } from '@tocsin/runtime';
import { asUser, eventually, TEST_SECRET_KEYS } from '@tocsin/testing';
import { type House, openHouse } from './house.ts';

let house: House;
const published: Envelope[] = [];

beforeAll(async () => {
  house = await openHouse();
  house.broker.subscribe(QUEUES.catalogReplicas, async () => 'ack');
  house.broker.subscribe(QUEUES.incidentReplicas, async ({ body }) => {
    published.push(JSON.parse(body.toString()) as Envelope);
    return 'ack';
  });
});
afterAll(async () => house.close());

/** Waits for an event of that type that has, among others, these members. */
const event = async (type: keyof typeof eventData, members: object) =>
  eventually(() => {
    const found = published.find((one) => one.type === type && matches(one, members));
    if (found !== undefined) eventData[type].parse(found.data);
    return found;
  });

function matches(value: unknown, members: unknown): boolean {
  if (typeof members !== 'object' || members === null) return value === members;
  return Object.entries(members).every(([name, member]) => matches((value as Record<string, unknown>)[name], member));
}

describe('workspaces', () => {
  test('have the defaults of the contract, and a version from the start', async () => {
    const workspace = await house.admin.createWorkspace({ slug: 'plain', name: ' Plain ' });
    expect(workspace).toMatchObject({
      slug: 'plain',
      name: 'Plain',
      isDemo: false,
      historyDays: null,
      reportingCurrency: 'USD',
      shortTitleRequired: false,
      rateLimit: null,
      version: 1,
    });
    await event('workspace.changed', {
      workspace: { id: workspace.id, slug: 'plain', is_demo: false },
      data: {
        version: 1,
        workspace: { name: 'Plain', history_days: null, reporting_currency: 'USD', short_title_required: false },
      },
    });
  });

  test('keep what a change does not name', async () => {
    await house.admin.createWorkspace({
      slug: 'kept',
      name: 'Kept',
      isDemo: true,
      historyDays: 30.5,
      reportingCurrency: 'EUR',
      shortTitleRequired: true,
      rateLimit: 10,
    });
    const changed = await house.admin.setWorkspace({ slug: 'kept', historyDays: null });
    expect(changed).toMatchObject({
      name: 'Kept',
      isDemo: true,
      historyDays: null,
      reportingCurrency: 'EUR',
      shortTitleRequired: true,
      rateLimit: 10,
      version: 2,
    });
    await event('workspace.changed', { workspace: { is_demo: true }, data: { version: 2 } });
  });

  test.each([
    [{ slug: 'Upper', name: 'x' }, 'slug'],
    [{ slug: 'a.b', name: 'x' }, 'slug'],
    [{ slug: 'ok-1', name: '  ' }, 'name'],
    [{ slug: 'ok-1', name: 'x'.repeat(256) }, 'name'],
    [{ slug: 'ok-1', name: 'a\0b' }, 'name'],
    [{ slug: 'ok-1', name: 'x', historyDays: 0 }, 'history_days'],
    [{ slug: 'ok-1', name: 'x', historyDays: Number.NaN }, 'history_days'],
    [{ slug: 'ok-1', name: 'x', historyDays: Number.POSITIVE_INFINITY }, 'history_days'],
    [{ slug: 'ok-1', name: 'x', reportingCurrency: 'usd' }, 'reporting_currency'],
    [{ slug: 'ok-1', name: 'x', rateLimit: 0 }, 'rate_limit'],
    [{ slug: 'ok-1', name: 'x', rateLimit: 1.5 }, 'rate_limit'],
    [{ slug: 'ok-1', name: 'x', rateLimit: 2_147_483_648 }, 'rate_limit'],
  ])('%j is refused for its %s', async (input, field) => {
    await expect(house.admin.createWorkspace(input)).rejects.toMatchObject({ code: 'invalid_request', field });
    await expect(house.admin.getWorkspace('ok-1')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a slug is taken once', async () => {
    await expect(house.admin.createWorkspace({ slug: 'acme', name: 'Again' })).rejects.toMatchObject({
      code: 'invalid_resource_state',
      message: 'The workspace acme exists already',
    });
  });
});

describe('users', () => {
  test('are members without a seat unless more is said, and are announced', async () => {
    const user = await house.admin.createUser({ workspace: 'acme', email: 'New@Example.com', name: 'New' });
    expect(user).toMatchObject({ email: 'New@Example.com', active: true, role: 'member', seat: 'none' });
    const { version } = await house.admin.getWorkspace('acme');
    await event('user.changed', {
      workspace: { slug: 'acme' },
      data: {
        version,
        user: { id: user.id, email: 'New@Example.com', name: 'New', active: true, role: 'member', seat: 'none' },
      },
    });
  });

  test('are found by their email in any case, and have it alone in their workspace', async () => {
    await house.admin.createWorkspace({ slug: 'second', name: 'Second' });
    await house.admin.createUser({ workspace: 'acme', email: 'one@example.com', name: 'One' });
    await expect(
      house.admin.createUser({ workspace: 'acme', email: 'ONE@example.com', name: 'Two' }),
    ).rejects.toMatchObject({ code: 'invalid_resource_state' });
    await house.admin.createUser({ workspace: 'second', email: 'one@example.com', name: 'One' });
    const changed = await house.admin.setUser({
      workspace: 'acme',
      email: 'One@Example.com',
      role: 'admin',
      name: 'Renamed',
    });
    expect(changed).toMatchObject({ role: 'admin', name: 'Renamed', seat: 'none', active: true });
  });

  test.each(['', 'nobody', 'a b@c.d', '@c.d', 'a@', `${'a'.repeat(250)}@c.de`])('%j is no address', async (email) => {
    await expect(house.admin.createUser({ workspace: 'acme', email, name: 'x' })).rejects.toMatchObject({
      field: 'email',
    });
  });

  test('nobody there: said so', async () => {
    await expect(house.admin.setUser({ workspace: 'acme', email: 'no@body.com', name: 'x' })).rejects.toThrow(
      'The user no@body.com in acme does not exist',
    );
    await expect(house.admin.createUser({ workspace: 'gone', email: 'a@b.c', name: 'x' })).rejects.toThrow(
      'The workspace gone does not exist',
    );
  });
});

describe('keys', () => {
  test('give their token away once, and keep what it takes to recognise it', async () => {
    await house.admin.createUser({ workspace: 'acme', email: 'keys@example.com', name: 'K' });
    const { key, token } = await house.admin.createKey({
      workspace: 'acme',
      user: 'keys@example.com',
      name: 'ci',
      scopes: ['teams:read', 'incidents:read', 'teams:read'],
      expires: '2099-01-31T12:00:00.5+02:00',
    });
    expect(key).toMatchObject({
      name: 'ci',
      shown: token.slice(0, 8),
      scopes: ['incidents:read', 'teams:read'],
      expiresAt: '2099-01-31T10:00:00.500Z',
      revokedAt: null,
    });
    const revoked = await house.admin.revokeKey(key.id);
    expect(revoked.revokedAt).not.toBeNull();
    expect((await house.admin.revokeKey(key.id)).revokedAt).toBe(revoked.revokedAt);
    await expect(house.admin.revokeKey(999_999)).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each([
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['incidents:delete'] }, 'scopes'],
    [{ expires: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ expires: '2099-01-01' }, 'expires_at'],
    [{ expires: '2099-02-30T00:00:00Z' }, 'expires_at'],
    [{ expires: 'tomorrow' }, 'expires_at'],
    [{ name: '' }, 'name'],
  ])('%j is refused for its %s', async (given, field) => {
    await expect(
      house.admin.createKey({
        workspace: 'acme',
        user: 'keys@example.com',
        name: 'ci',
        scopes: ['incidents:read'],
        ...given,
      }),
    ).rejects.toMatchObject({ code: 'invalid_request', field });
  });

  test('not for somebody deactivated', async () => {
    await house.admin.createUser({ workspace: 'acme', email: 'gone@example.com', name: 'G' });
    await house.admin.setUser({ workspace: 'acme', email: 'gone@example.com', active: false });
    await expect(
      house.admin.createKey({ workspace: 'acme', user: 'gone@example.com', name: 'k', scopes: ['incidents:read'] }),
    ).rejects.toThrow('deactivated');
  });
});

describe('the changes of users, for the replicas of other services', () => {
  const client = () =>
    internalClient({
      baseUrl: house.app.internalUrl,
      self: 'catalog',
      keyring: openKeyring(TEST_SECRET_KEYS, PRINCIPAL_PURPOSE),
    });
  const since = async (workspaceId: number, version: number) =>
    client().get(INTERNAL_PATHS.userChanges, { workspace_id: workspaceId, since: version }, userChanges);

  test('are those after a version, with the version that they lead to', async () => {
    const { id } = await house.admin.createWorkspace({ slug: 'replicated', name: 'R' });
    expect(await since(id, 0)).toEqual({ version: 1, users: [] });
    const a = await house.admin.createUser({ workspace: 'replicated', email: 'a@r.example', name: 'A', role: 'owner' });
    await house.admin.createUser({ workspace: 'replicated', email: 'b@r.example', name: 'B', seat: 'responder' });
    const all = await since(id, 0);
    expect(all.version).toBe(3);
    expect(all.users.map(({ email }) => email)).toEqual(['a@r.example', 'b@r.example']);
    expect((await since(id, 2)).users.map(({ email }) => email)).toEqual(['b@r.example']);
    expect(await since(id, 3)).toEqual({ version: 3, users: [] });

    await house.admin.setUser({ workspace: 'replicated', email: 'a@r.example', active: false });
    expect(await since(id, 3)).toEqual({
      version: 4,
      users: [{ id: a.id, email: 'a@r.example', name: 'A', active: false, seat: 'none', role: 'owner' }],
    });
    await house.admin.setWorkspace({ slug: 'replicated' });
    expect(await since(id, 4)).toEqual({ version: 5, users: [] });
    expect(await since(999_999, 0)).toEqual({ version: 0, users: [] });
  });

  test('concurrent changes get versions of their own, in the order of their commits', async () => {
    const { id } = await house.admin.createWorkspace({ slug: 'busy', name: 'B' });
    await Promise.all(
      Array.from({ length: 8 }, async (_, index) =>
        house.admin.createUser({ workspace: 'busy', email: `u${index}@b.example`, name: 'U' }),
      ),
    );
    const { version, users } = await since(id, 0);
    expect([version, users.length]).toEqual([9, 8]);
  });

  test('are for our own services only', async () => {
    const at = new URL(`${INTERNAL_PATHS.userChanges}?workspace_id=1&since=0`, house.app.internalUrl);
    expect((await fetch(at)).status).toBe(401);
    expect((await fetch(at, { headers: asUser() })).status).toBe(401);
  });
});

test('the internal door has the metrics', async () => {
  const token = await house.token();
  await house.say({ path: '/api/v1/incidents', token });
  await house.say({ path: '/api/v1/nowhere', token });
  const metrics = await (await fetch(new URL('/metrics', house.app.internalUrl))).text();
  expect(metrics).toMatch(
    /tocsin_gateway_request_duration_seconds_count\{app="gateway",operation="listIncidents",status="200"\} \d/,
  );
  expect(metrics).toMatch(
    /tocsin_gateway_request_duration_seconds_count\{app="gateway",operation="none",status="404"\} \d/,
  );
  expect(metrics).toMatch(/tocsin_gateway_upstream_available\{upstream="incident",app="gateway"\} 1/);
  expect(metrics).not.toContain('tcs_');
});
