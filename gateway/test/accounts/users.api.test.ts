import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openGatewayDatabase } from '../../src/administration.ts';
import { readUserChanges } from '../../src/accounts/http/internal-routes.ts';
import { startGatewayHarness } from '../gateway-harness.ts';
import { at, type Member, memberOf, USERS } from '../members.ts';

const gateway = await startGatewayHarness({ env: { RATE_LIMIT_PER_MINUTE: '100000' } });
const owner = await memberOf(gateway, { role: 'owner' });
const admin = await memberOf(gateway, { role: 'admin' });
afterAll(async () => gateway.close());

let made = 0;
const newUser = (more: object = {}) => {
  made += 1;
  return { email: `made-${made}@acme.example`, name: `Made ${made}`, ...more };
};
/** The users of a workspace, as replicas read them. */
const replicated = async (workspaceId: number) => {
  const knex = openGatewayDatabase({ GATEWAY_DATABASE_URL: gateway.database.url('gateway') });
  const { changes } = await readUserChanges(knex, { workspaceId, since: 0, after: undefined });
  await knex.destroy();
  return changes.map(({ user }) => user);
};
const create = async (more: object = {}, { client } = owner) => client.post(USERS, newUser(more));

describe('a user', () => {
  test('is created as a member without a seat, read, changed, and announced', async () => {
    const body = newUser({ name: '  Ana  ' });
    const created = await owner.client.post(USERS, body);
    expect(created.status).toBe(201);
    const { user } = created.body;
    expect(user).toEqual({
      id: expect.any(Number),
      revision: 1,
      email: body.email,
      name: 'Ana',
      role: 'member',
      seat: 'none',
      active: true,
      created_at: expect.any(String),
      updated_at: user.created_at,
      last_seen_at: null,
    });
    expect(created.headers.get('Service-Resource-Version')).toBe('1');
    const path = `${USERS}/${user.id}`;
    expect((await owner.client.get(path)).body).toEqual({ user });

    const changes = { name: 'Ana Lima', role: 'manager', seat: 'responder', active: false };
    const changed = await owner.client.patch(path, changes, at(1));
    expect(changed.body.user).toEqual({ ...user, ...changes, revision: 2, updated_at: expect.any(String) });
    expect(changed.headers.get('Service-Resource-Version')).toBe('2');
    // Nothing changes, so neither does the revision.
    expect((await owner.client.patch(path, { name: 'Ana Lima' }, at(2))).body).toEqual(changed.body);
    expect((await owner.client.patch(path, {}, at(2))).body).toEqual(changed.body);
    expect(await replicated(owner.user.workspaceId)).toContainEqual(
      expect.objectContaining({ id: user.id, email: body.email, ...changes }),
    );
  });

  test('has an email address that no other one has, in any case', async () => {
    const { body } = await create({ email: 'Twice@acme.example' });
    await owner.client.patch(`${USERS}/${body.user.id}`, { active: false }, at(1));
    const refused = await create({ email: 'tWICE@ACME.example' });
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      code: 'invalid_resource_state',
      field: 'email',
      details: { existing_id: body.user.id },
    });
    await gateway.admin.createWorkspace({ slug: 'other-emails', name: 'O' });
    const other = await memberOf(gateway, { role: 'owner', workspace: 'other-emails' });
    expect((await create({ email: 'twice@acme.example' }, other)).status).toBe(201);
  });

  test('has an address of 254 characters at most, whatever their script', async () => {
    const address = (length: number) => `${'𠮷'.repeat(length - '@acme.example'.length)}@acme.example`;
    expect((await create({ email: address(254) })).status).toBe(201);
    expect((await create({ email: address(255) })).body.field).toBe('email');
  });

  test('has a wrong email address corrected, which nobody else has', async () => {
    const { body } = await create({ email: 'mistiped@acme.example' });
    const { body: other } = await create({ email: 'Other@acme.example' });
    const path = `${USERS}/${body.user.id}`;
    const patch = async (email: string, revision: number, { client } = owner) =>
      client.patch(path, { email }, at(revision));
    const taken = await patch('oTHER@acme.example', 1);
    expect([taken.status, taken.body.field, taken.body.details]).toEqual([
      409,
      'email',
      { existing_id: other.user.id },
    ]);
    expect((await patch('mis\u00adtyped@acme.example', 1)).body.field).toBe('email');
    expect((await patch('mistyped@acme.example', 1, await memberOf(gateway, { role: 'manager' }))).status).toBe(403);
    expect((await patch('mistyped@acme.example', 1, admin)).body.user).toMatchObject({
      ...{ email: 'mistyped@acme.example', revision: 2 },
    });
    // The case of letters can be corrected, too, and the former address is free.
    expect((await patch('MisTyped@acme.example', 2)).body.user.email).toBe('MisTyped@acme.example');
    expect((await patch('MisTyped@acme.example', 3)).body.user.revision).toBe(3);
    expect((await create({ email: 'mistiped@acme.example' })).status).toBe(201);
    const known = (await replicated(owner.user.workspaceId)).find(({ id }) => id === body.user.id);
    expect(known?.email).toBe('MisTyped@acme.example');
    await gateway.admin.setUser({ workspace: 'acme', email: 'mistyped@acme.example', newEmail: 'typed@acme.example' });
    expect((await owner.client.get(path)).body.user).toMatchObject({ email: 'typed@acme.example', revision: 4 });
  });

  test.each([
    [{ email: 'nobody' }, 'email', 'invalid_request'],
    [{ email: `${'x'.repeat(251)}@a.b` }, 'email', 'invalid_request'],
    [{ email: 'a\u200b@acme.example' }, 'email', 'invalid_request'],
    [{ email: 'a@acme.example\ufeff' }, 'email', 'invalid_request'],
    [{ email: '\u{e0061}@acme.example' }, 'email', 'invalid_request'],
    [{ name: '  ' }, 'name', 'invalid_request'],
    [{ name: '\u200b \u2060\u3164' }, 'name', 'invalid_request'],
  ])('is not created with %j', async (more, field, code) => {
    const { status, body } = await create(more);
    expect([status, body.code, body.field]).toEqual([400, code, field]);
  });

  test('has a name for every key', async () => {
    const { client } = await memberOf(gateway, { scopes: ['slack_context:read'] });
    const { id, name } = owner.user;
    expect((await client.get(`/api/v1/users/${id}`)).body).toEqual({ user: { id, name, active: true } });
    expect((await client.get('/api/v1/users/999999')).status).toBe(404);
  });

  test('who is deactivated has no valid key, and has again when activated', async () => {
    const { user, client } = await memberOf(gateway);
    const path = `${USERS}/${user.id}`;
    expect((await client.get('/api/v1/me')).status).toBe(200);
    await owner.client.patch(path, { active: false }, at(1));
    expect((await client.get('/api/v1/me')).status).toBe(401);
    await owner.client.patch(path, { active: true }, at(2));
    expect((await client.get('/api/v1/me')).status).toBe(200);
  });
});

describe('the list of users', () => {
  let reader: Member;
  const emails = async (query: string) => {
    const { status, body } = await reader.client.get(`${USERS}?${query}`);
    expect(status).toBe(200);
    return (body.users as { email: string }[]).map(({ email }) => email);
  };
  beforeAll(async () => {
    await gateway.admin.createWorkspace({ slug: 'listed', name: 'L' });
    reader = await memberOf(gateway, { workspace: 'listed', role: 'owner', scopes: ['users:read'] });
    for (const [email, name, role, seat] of [
      ['B@x.example', 'Bäcker Öztürk', 'viewer', 'none'],
      ['a@x.example', 'Σίσυφος', 'manager', 'responder'],
      ['c_d%@y.example', 'Plain', 'viewer', 'responder'],
    ] as const) {
      await gateway.admin.createUser({ workspace: 'listed', email, name, role, seat });
    }
    await gateway.admin.setUser({ workspace: 'listed', email: 'b@x.example', active: false });
  });

  test('is in the order of email addresses, and of those that meet all filters', async () => {
    const all = ['a@x.example', 'B@x.example', 'c_d%@y.example', reader.user.email];
    expect(await emails('')).toEqual(all);
    expect(await emails('seat=responder&role=viewer')).toEqual(['c_d%@y.example']);
  });

  test('of a search continues after 1,000 users that do not match', async () => {
    await gateway.admin.createWorkspace({ slug: 'many', name: 'M' });
    const many = await memberOf(gateway, { workspace: 'many', role: 'owner' });
    const knex = openGatewayDatabase({ GATEWAY_DATABASE_URL: gateway.database.url('gateway') });
    await knex.raw(
      `insert into users (workspace_id, email, name, seat, role, version)
       select ?, 'u' || lpad(n::text, 5, '0') || '@x.example', 'U', 'none', 'member', 1 from generate_series(1, 1500) n`,
      [many.user.workspaceId],
    );
    await knex.destroy();
    const first = await many.client.get(`${USERS}?q=u01500`);
    expect(first.body).toMatchObject({ users: [], pagination: { has_more: true } });
    const next = first.body.pagination.next_cursor as string;
    const second = await many.client.get(`${USERS}?q=u01500&cursor=${next}`);
    expect(second.body.users).toHaveLength(1);
    expect(second.body.pagination.has_more).toBe(false);
  });
});

describe('nobody takes over a workspace', () => {
  const refusal = async (answer: Promise<{ status: number; body: { code: string } }>) => {
    const { status, body } = await answer;
    return [status, body.code];
  };

  test('an admin makes nobody an owner, themselves included, and changes no owner', async () => {
    const { user } = await memberOf(gateway);
    const denied = [403, 'permission_denied'];
    expect(await refusal(create({ role: 'owner' }, admin))).toEqual(denied);
    for (const { id } of [user, admin.user]) {
      expect(await refusal(admin.client.patch(`${USERS}/${id}`, { role: 'owner' }, at(1)))).toEqual(denied);
    }
    for (const changes of [{ name: 'x' }, { role: 'viewer' }, { active: false }, {}]) {
      expect(await refusal(admin.client.patch(`${USERS}/${owner.user.id}`, changes, at(1)))).toEqual(denied);
    }
    expect((await create({ role: 'admin' }, admin)).status).toBe(201);
  });

  test('an admin who was demoted a moment ago changes nobody', async () => {
    const demoted = await memberOf(gateway, { role: 'admin' });
    const { user } = await memberOf(gateway);
    const [, answer] = await Promise.all([
      owner.client.patch(`${USERS}/${demoted.user.id}`, { role: 'viewer' }, at(1)),
      demoted.client.patch(`${USERS}/${user.id}`, { role: 'admin' }, at(1)),
    ]);
    const { role } = await gateway.admin.getUser('acme', user.email);
    // Whichever came first.
    expect(role).toBe(answer.status === 200 ? 'admin' : 'member');
    expect(await refusal(demoted.client.patch(`${USERS}/${user.id}`, { name: 'x' }, at(2)))).toEqual([
      403,
      'missing_role_permission',
    ]);
  });

  test('the last active owner stays one', async () => {
    await gateway.admin.createWorkspace({ slug: 'lonely', name: 'L' });
    const last = await memberOf(gateway, { workspace: 'lonely', role: 'owner' });
    const path = `${USERS}/${last.user.id}`;
    for (const changes of [{ role: 'admin' }, { active: false }, { role: 'viewer', active: false }]) {
      const { status, body } = await last.client.patch(path, changes, at(1));
      expect([status, body]).toMatchObject([
        409,
        {
          code: 'invalid_resource_state',
          message: `${last.user.name} is the last active owner of the workspace`,
          details: { last_owner_id: last.user.id },
        },
      ]);
    }
    const second = await memberOf(gateway, { workspace: 'lonely', role: 'owner' });
    await last.client.patch(`${USERS}/${second.user.id}`, { active: false }, at(1));
    expect(await refusal(last.client.patch(path, { role: 'admin' }, at(1)))).toEqual([409, 'invalid_resource_state']);
    await last.client.patch(`${USERS}/${second.user.id}`, { active: true }, at(2));
    expect((await last.client.patch(path, { role: 'admin' }, at(1))).status).toBe(200);
  });

  test('two owners who demote each other at the same time leave one', async () => {
    for (let round = 0; round < 5; round += 1) {
      const workspace = `race-${round}`;
      await gateway.admin.createWorkspace({ slug: workspace, name: 'R' });
      const owners = await Promise.all([1, 2].map(async () => memberOf(gateway, { workspace, role: 'owner' })));
      const [a, b] = owners as [Member, Member];
      const answers = await Promise.all([
        a.client.patch(`${USERS}/${b.user.id}`, { role: 'member' }, at(1)),
        b.client.patch(`${USERS}/${a.user.id}`, { active: false }, at(1)),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const users = await gateway.admin.listUsers(workspace);
      expect(users.filter(({ role, active }) => role === 'owner' && active)).toHaveLength(1);
    }
  });
});

test('the quota of users applies to creates and activations', async () => {
  await gateway.admin.createWorkspace({ slug: 'small', name: 'S', quotas: { users: 2 } });
  const { client } = await memberOf(gateway, { workspace: 'small', role: 'owner' });
  const { user } = (await client.post(USERS, newUser())).body;
  const refused = await client.post(USERS, newUser());
  expect([refused.status, refused.body.code]).toEqual([409, 'invalid_resource_state']);
  await client.patch(`${USERS}/${user.id}`, { active: false }, at(1));
  expect((await client.post(USERS, newUser())).status).toBe(201);
  expect((await client.patch(`${USERS}/${user.id}`, { active: true }, at(2))).status).toBe(409);
});
