import { afterAll, describe, expect, test } from '@jest/globals';
import { type Envelope, eventData, INTERNAL_PATHS, QUEUES, userChangePage } from '@tocsin/schemas';
import { internalClient } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { asUser, eventually, TEST_SECRET_KEYS } from '@tocsin/testing';
import { type Administration, administration, openGatewayDatabase } from '../../src/administration.ts';
import { schema } from '../../src/schema.ts';
import { startGatewayHarness } from '../gateway-harness.ts';

const published: Envelope[] = [];

const gateway = await startGatewayHarness();
gateway.broker.subscribe(QUEUES.catalogReplicas, async () => 'ack');
gateway.broker.subscribe(QUEUES.incidentReplicas, async ({ body }) => {
  published.push(JSON.parse(body.toString()) as Envelope);
  return 'ack';
});
afterAll(async () => gateway.close());

/** Waits for an event of this type that has at least these members. */
const event = async (type: keyof typeof eventData, members: object) =>
  eventually(() => {
    const match = published.find((envelope) => envelope.type === type && matches(envelope, members));
    if (match !== undefined) eventData[type].parse(match.data);
    return match;
  });

function matches(value: unknown, members: unknown): boolean {
  if (typeof members !== 'object' || members === null) return value === members;
  return Object.entries(members).every(([name, member]) => matches((value as Record<string, unknown>)[name], member));
}

describe('workspaces', () => {
  test('have the defaults of the contract, and a version from the start', async () => {
    const workspace = await gateway.admin.createWorkspace({ slug: 'plain', name: ' Plain ' });
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

  test('keep the settings that a change does not name', async () => {
    await gateway.admin.createWorkspace({
      slug: 'kept',
      name: 'Kept',
      isDemo: true,
      historyDays: 30.5,
      reportingCurrency: 'EUR',
      shortTitleRequired: true,
      rateLimit: 10,
    });
    const changed = await gateway.admin.setWorkspace({ slug: 'kept', historyDays: null });
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
    await expect(gateway.admin.createWorkspace(input)).rejects.toMatchObject({ code: 'invalid_request', field });
    await expect(gateway.admin.getWorkspace('ok-1')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a slug is unique', async () => {
    await expect(gateway.admin.createWorkspace({ slug: 'acme', name: 'Again' })).rejects.toMatchObject({
      code: 'invalid_resource_state',
      message: 'The workspace acme exists already',
    });
  });
});

describe('users', () => {
  test('are members without a seat by default, and are announced', async () => {
    const user = await gateway.admin.createUser({ workspace: 'acme', email: 'New@Example.com', name: 'New' });
    expect(user).toMatchObject({ email: 'New@Example.com', active: true, role: 'member', seat: 'none' });
    const { version } = await gateway.admin.getWorkspace('acme');
    await event('user.changed', {
      workspace: { slug: 'acme' },
      data: {
        version,
        user: { id: user.id, email: 'New@Example.com', name: 'New', active: true, role: 'member', seat: 'none' },
      },
    });
  });

  test('are found by their email in any case, and it is unique in the workspace', async () => {
    await gateway.admin.createWorkspace({ slug: 'second', name: 'Second' });
    await gateway.admin.createUser({ workspace: 'acme', email: 'one@example.com', name: 'One' });
    await expect(
      gateway.admin.createUser({ workspace: 'acme', email: 'ONE@example.com', name: 'Two' }),
    ).rejects.toMatchObject({ code: 'invalid_resource_state' });
    await gateway.admin.createUser({ workspace: 'second', email: 'one@example.com', name: 'One' });
    const changed = await gateway.admin.setUser({
      workspace: 'acme',
      email: 'One@Example.com',
      role: 'admin',
      name: 'Renamed',
    });
    expect(changed).toMatchObject({ role: 'admin', name: 'Renamed', seat: 'none', active: true });
  });

  test.each(['', 'nobody', 'a b@c.d', '@c.d', 'a@', `${'a'.repeat(250)}@c.de`])(
    '%j is not an email address',
    async (email) => {
      await expect(gateway.admin.createUser({ workspace: 'acme', email, name: 'x' })).rejects.toMatchObject({
        field: 'email',
      });
    },
  );

  test('the error names an unknown user or workspace', async () => {
    await expect(gateway.admin.setUser({ workspace: 'acme', email: 'no@body.com', name: 'x' })).rejects.toThrow(
      'The user no@body.com in acme does not exist',
    );
    await expect(gateway.admin.createUser({ workspace: 'gone', email: 'a@b.c', name: 'x' })).rejects.toThrow(
      'The workspace gone does not exist',
    );
  });
});

describe('keys', () => {
  test('return their token once, and store only its first characters in plain text', async () => {
    await gateway.admin.createUser({ workspace: 'acme', email: 'keys@example.com', name: 'K' });
    const { key, token } = await gateway.admin.createKey({
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
    const revoked = await gateway.admin.revokeKey(key.id);
    expect(revoked.revokedAt).not.toBeNull();
    expect((await gateway.admin.revokeKey(key.id)).revokedAt).toBe(revoked.revokedAt);
    await expect(gateway.admin.revokeKey(999_999)).rejects.toMatchObject({ code: 'not_found' });
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
      gateway.admin.createKey({
        workspace: 'acme',
        user: 'keys@example.com',
        name: 'ci',
        scopes: ['incidents:read'],
        ...given,
      }),
    ).rejects.toMatchObject({ code: 'invalid_request', field });
  });

  test('are not created for a deactivated user', async () => {
    await gateway.admin.createUser({ workspace: 'acme', email: 'gone@example.com', name: 'G' });
    await gateway.admin.setUser({ workspace: 'acme', email: 'gone@example.com', active: false });
    await expect(
      gateway.admin.createKey({ workspace: 'acme', user: 'gone@example.com', name: 'k', scopes: ['incidents:read'] }),
    ).rejects.toThrow('deactivated');
  });
});

describe('of creates at the same moment, one succeeds', () => {
  const opened: Knex[] = [];
  afterAll(async () => Promise.all(opened.map(async (knex) => knex.destroy())));

  /** What becomes of creates of four administrators, each with a connection of its own. */
  const outcomes = async (create: (admin: Administration, index: number) => Promise<unknown>) => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 4 }, async (_, index) => {
        const knex = openGatewayDatabase({ GATEWAY_DATABASE_URL: gateway.database.url(schema.name) });
        opened.push(knex);
        return create(administration(knex), index);
      }),
    );
    return attempts.map((attempt) => (attempt.status === 'fulfilled' ? 'created' : attempt.reason.code)).sort();
  };
  const ONE = ['created', ...Array(3).fill('invalid_resource_state')];

  test('of a workspace with one slug', async () => {
    expect(await outcomes(async (admin) => admin.createWorkspace({ slug: 'at-once', name: 'A' }))).toEqual(ONE);
  });

  test('of a user with one email address, whatever its case', async () => {
    const email = (index: number) => (index % 2 === 0 ? 'At-Once@x.de' : 'at-once@X.de');
    const create = async (admin: Administration, index: number) =>
      admin.createUser({ workspace: 'acme', email: email(index), name: 'U' });
    expect(await outcomes(create)).toEqual(ONE);
  });
});

describe('the changes of users for the replicas of other services', () => {
  const client = () =>
    internalClient({
      urls: [gateway.app.internalUrl],
      self: 'catalog',
      service: 'gateway',
      secretKeys: TEST_SECRET_KEYS,
    });
  /** What changed after a version, which here is one page. */
  const since = async (workspaceId: number, after: number) => {
    const query = { workspace_id: workspaceId, since: after };
    const { version, changes } = await client().get(INTERNAL_PATHS.userChangePages, query, userChangePage);
    return { version, users: changes.map(({ user }) => user) };
  };

  test('are those after a version, with the current version', async () => {
    const { id } = await gateway.admin.createWorkspace({ slug: 'replicated', name: 'R' });
    expect(await since(id, 0)).toEqual({ version: 1, users: [] });
    const a = await gateway.admin.createUser({
      workspace: 'replicated',
      email: 'a@r.example',
      name: 'A',
      role: 'owner',
    });
    await gateway.admin.createUser({ workspace: 'replicated', email: 'b@r.example', name: 'B', seat: 'responder' });
    const all = await since(id, 0);
    expect(all.version).toBe(3);
    expect(all.users.map(({ email }) => email)).toEqual(['a@r.example', 'b@r.example']);
    expect((await since(id, 2)).users.map(({ email }) => email)).toEqual(['b@r.example']);
    expect(await since(id, 3)).toEqual({ version: 3, users: [] });

    await gateway.admin.setUser({ workspace: 'replicated', email: 'a@r.example', active: false });
    expect(await since(id, 3)).toEqual({
      version: 4,
      users: [{ id: a.id, email: 'a@r.example', name: 'A', active: false, seat: 'none', role: 'owner' }],
    });
    await gateway.admin.setWorkspace({ slug: 'replicated' });
    expect(await since(id, 4)).toEqual({ version: 5, users: [] });
    expect(await since(999_999, 0)).toEqual({ version: 0, users: [] });
  });

  test('concurrent changes get distinct versions, in the order of their commits', async () => {
    const { id } = await gateway.admin.createWorkspace({ slug: 'busy', name: 'B' });
    await Promise.all(
      Array.from({ length: 8 }, async (_, index) =>
        gateway.admin.createUser({ workspace: 'busy', email: `u${index}@b.example`, name: 'U' }),
      ),
    );
    const { version, users } = await since(id, 0);
    expect([version, users.length]).toEqual([9, 8]);
  });

  test('are for our own services only', async () => {
    const url = new URL(`${INTERNAL_PATHS.userChangePages}?workspace_id=1&since=0`, gateway.app.internalUrl);
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: asUser('gateway') })).status).toBe(401);
  });
});

test('the internal server has the metrics', async () => {
  const token = await gateway.token();
  await gateway.send({ path: '/api/v1/incidents', token });
  await gateway.send({ path: '/api/v1/nowhere', token });
  const metrics = await gateway.metrics();
  expect(metrics).toMatch(
    /tocsin_gateway_request_duration_seconds_count\{app="gateway",operation="listIncidents",status="200"\} \d/,
  );
  expect(metrics).toMatch(
    /tocsin_gateway_request_duration_seconds_count\{app="gateway",operation="none",status="404"\} \d/,
  );
  expect(metrics).toMatch(/tocsin_gateway_upstream_available\{upstream="incident",app="gateway"\} 1/);
  expect(metrics).not.toContain('tcs_');
});
