import { describe, expect, test } from '@jest/globals';
import { eventually, holdTransaction, refusal } from '@tocsin/testing';
import { randomUUID } from 'node:crypto';
import { at, create, namesOf, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

/** Prepares a workspace with a team, and a user at the gateway for each number. */
async function prepare(...numbers: number[]) {
  const user = newWorkspace();
  const workspaceId = user.workspace.id;
  const idOf = (number: number) => workspaceId * 100 + number;
  let version = 0;
  for (const number of numbers) {
    version = service.internalServices.setUser(workspaceId, { id: idOf(number), name: `User ${number}` });
  }
  /** Changes a user at the gateway; later requests carry the new version. */
  const setUser = (number: number, change: { name?: string; email?: string; active?: boolean }) => {
    version = service.internalServices.setUser(workspaceId, { id: idOf(number), ...change });
  };
  const client = () => service.as({ workspace: { ...user.workspace, version } });
  const team = await create(client(), 'team', { name: 'team' });
  const path = `/api/v1/teams/${team.id}`;
  return {
    workspace: user.workspace,
    idOf,
    setUser,
    client,
    path,
    members: `${path}/members`,
    version: () => version,
    names: async () => namesOf((await client().get(`${path}/members`)).body.members),
    count: async () => (await client().get(path)).body.team.member_count,
  };
}

async function publishUser(
  { id, slug }: { id: number; slug: string },
  version: number,
  user: { id: number; name: string; active: boolean },
): Promise<void> {
  const message = {
    id: randomUUID(),
    type: 'user.changed',
    schema_version: 1,
    occurred_at: new Date().toISOString(),
    workspace: { id, slug, is_demo: false },
    request_id: null,
    data: { version, user: { email: 'e@example.com', seat: 'none', role: 'member', ...user } },
  };
  const [outcome] = await service.broker.publish([
    { id: message.id, type: message.type, body: JSON.stringify(message) },
  ]);
  expect(outcome).toBe('confirmed');
}

const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('members', () => {
  test('are added as members or leads, listed by name, changed and removed; the team keeps its revision', async () => {
    const { client, members, path, idOf, names, count } = await prepare(1, 2);
    const added = await client().post(members, { user_id: idOf(2) });
    expect(added.status).toBe(201);
    expect(added.body).toStrictEqual({
      member: {
        user_id: idOf(2),
        name: 'User 2',
        email: `u${idOf(2)}@example.com`,
        role: 'member',
        created_at: MOMENT,
        updated_at: added.body.member.created_at,
      },
    });
    const lead = await client().post(members, { user_id: idOf(1), role: 'lead' });
    expect(lead.body.member.role).toBe('lead');
    expect(await names()).toEqual(['User 1', 'User 2']);
    expect(await count()).toBe(2);

    const same = await client().patch(`${members}/${idOf(2)}`, { role: 'member' });
    expect(same.body).toStrictEqual(added.body);
    expect((await client().patch(`${members}/${idOf(2)}`, {})).body).toStrictEqual(added.body);
    const changed = await client().patch(`${members}/${idOf(2)}`, { role: 'lead' });
    expect(changed).toMatchObject({
      status: 200,
      body: { member: { role: 'lead', created_at: added.body.member.created_at } },
    });
    expect((await client().get(members)).body.members[1]).toStrictEqual(changed.body.member);

    for (let time = 0; time < 2; time += 1) {
      const removed = await client().delete(`${members}/${idOf(2)}`);
      expect([removed.status, removed.text]).toEqual([204, '']);
    }
    expect(await names()).toEqual(['User 1']);
    expect((await client().get(path)).body.team).toMatchObject({ revision: 1, member_count: 1 });
  });

  test('must be active users of the workspace who are not yet members', async () => {
    const { client, members, idOf, setUser } = await prepare(1, 2);
    const elsewhere = await prepare(3);
    setUser(2, { active: false });
    const post = async (body: unknown) => {
      const answer = await client().post(members, body);
      return [answer.status, answer.body.code, answer.body.field];
    };
    const refusal = [400, 'invalid_request', 'user_id'];
    expect(await post({ user_id: idOf(2) })).toEqual(refusal);
    expect(await post({ user_id: idOf(9) })).toEqual(refusal);
    expect(await post({ user_id: Number.MAX_SAFE_INTEGER })).toEqual(refusal);
    await elsewhere.client().post(elsewhere.members, { user_id: elsewhere.idOf(3) });
    expect(await post({ user_id: elsewhere.idOf(3) })).toEqual(refusal);
    expect((await client().post(members, { user_id: idOf(1) })).status).toBe(201);
    expect(await post({ user_id: idOf(1), role: 'lead' })).toEqual([409, 'invalid_resource_state', undefined]);
  });

  test('who do not exist are not found, and their removal succeeds', async () => {
    const { client, members, idOf } = await prepare(1);
    for (const id of [idOf(1), idOf(7), Number.MAX_SAFE_INTEGER]) {
      expect(await client().patch(`${members}/${id}`, { role: 'lead' })).toMatchObject(refusal(404, 'not_found'));
      expect((await client().delete(`${members}/${id}`)).status).toBe(204);
    }
    for (const id of ['0', 'x', '-1']) {
      expect(await client().patch(`${members}/${id}`, {})).toMatchObject({ status: 400, body: { field: 'userId' } });
      expect(await client().delete(`${members}/${id}`)).toMatchObject({ status: 400, body: { field: 'userId' } });
    }
    expect((await client().get('/api/v1/teams/999999999/members')).status).toBe(404);
    expect((await client().post('/api/v1/teams/999999999/members', { user_id: 1 })).status).toBe(404);
  });

  test('of an archived team can only be read', async () => {
    const { client, members, path, idOf, names } = await prepare(1, 2);
    await client().post(members, { user_id: idOf(1) });
    await client().delete(path);
    expect(await names()).toEqual(['User 1']);
    const answers = await Promise.all([
      client().post(members, { user_id: idOf(2) }),
      client().post(members, { user_id: idOf(9) }),
      client().patch(`${members}/${idOf(1)}`, { role: 'member' }),
      client().delete(`${members}/${idOf(1)}`),
      client().delete(`${members}/${idOf(9)}`),
    ]);
    for (const answer of answers) {
      expect(answer).toMatchObject(refusal(409, 'invalid_resource_state'));
    }
    expect((await client().patch(`${members}/${idOf(9)}`, {})).status).toBe(404);
    await client().post(`${path}/restore`);
    expect((await client().post(members, { user_id: idOf(2) })).status).toBe(201);
  });

  test('are listed by name and ID, each once, page after page', async () => {
    const { client, members, idOf, setUser } = await prepare(1, 2, 3, 4, 5);
    for (const [number, name] of [
      [1, 'zoe'],
      [2, 'Adam'],
      [3, 'ADAM'],
      [4, 'Ärmel'],
      [5, 'bob'],
    ] as const) {
      setUser(number, { name });
      await client().post(members, { user_id: idOf(number) });
    }
    const names = [];
    let cursor = '';
    do {
      const { body } = await client().get(`${members}?limit=2${cursor}`);
      names.push(...namesOf(body.members));
      cursor = body.pagination.has_more ? `&cursor=${body.pagination.next_cursor}` : '';
    } while (cursor !== '');
    expect(names).toEqual(['Adam', 'ADAM', 'bob', 'zoe', 'Ärmel']);
  });

  test('have no revision headers', async () => {
    const { client, members, idOf } = await prepare(1);
    const added = await client().post(members, { user_id: idOf(1) });
    const changed = await client().patch(`${members}/${idOf(1)}`, { role: 'lead' }, at(77));
    expect(changed.status).toBe(200);
    for (const { headers } of [added, changed]) expect(headers.has('Service-Resource-Version')).toBe(false);
  });
});

test('the number of members is exact after concurrent additions, removals and changes of users', async () => {
  const { client, workspace, idOf, version } = await prepare(1, 2, 3, 4);
  const teams = await Promise.all(['a', 'b', 'c'].map(async (name) => create(client(), 'team', { name })));
  const paths = teams.map(({ id }) => `/api/v1/teams/${id}`);
  const expectExact = async () => {
    for (const path of paths) {
      const { members } = (await client().get(`${path}/members`)).body;
      expect((await client().get(path)).body.team.member_count).toBe(members.length);
    }
  };
  let latest = version();
  const act = async (index: number) => {
    const number = 1 + (index % 4);
    const members = `${paths[index % 3]}/members`;
    const kind = Math.floor(index / 12) % 4;
    if (kind === 0) return client().delete(`${members}/${idOf(number)}`);
    if (kind !== 1) return client().post(members, { user_id: idOf(number) });
    latest += 1;
    return publishUser(workspace, latest, { id: idOf(number), name: `User ${number}`, active: index % 5 !== 0 });
  };
  await Promise.all(Array.from({ length: 144 }, async (_, index) => act(index)));
  await expectExact();
});

test('a user who is deactivated while being added is not counted', async () => {
  const { client, workspace, idOf, version, path, members, count, names } = await prepare(1);
  const unlock = await holdTransaction(service.knex, async (trx) =>
    trx('teams').where({ workspace_id: workspace.id }).forUpdate().select('id'),
  );
  const waiting = async () => {
    const sessions = service.knex('pg_stat_activity').whereRaw('datname = current_database()');
    return (await sessions.where('wait_event_type', 'Lock').select('pid')).length;
  };
  try {
    const added = client().post(members, { user_id: idOf(1) });
    await eventually(async () => (await waiting()) === 1, { what: 'the addition' });
    const changed = publishUser(workspace, version() + 1, { id: idOf(1), name: 'User 1', active: false });
    await eventually(async () => (await waiting()) === 2, { what: 'the change of the user' });
    await unlock();
    expect((await added).status).toBe(201);
    await changed;
  } finally {
    await unlock();
  }
  expect([await count(), await names()]).toEqual([0, []]);
  await publishUser(workspace, version() + 2, { id: idOf(1), name: 'User 1', active: true });
  expect([await count(), await names()]).toEqual([1, ['User 1']]);
  await client().delete(`${members}/${idOf(1)}`);
  expect((await client().get(path)).body.team.member_count).toBe(0);
});

describe('a change of a user at the gateway', () => {
  test('is visible to the next request that carries its version: activity, names, new users', async () => {
    const { client, members, idOf, setUser, names, count, path } = await prepare(1, 2);
    for (const number of [1, 2]) await client().post(members, { user_id: idOf(number) });
    setUser(1, { active: false });
    expect(await count()).toBe(1);
    expect(await names()).toEqual(['User 2']);
    expect((await client().get('/api/v1/teams')).body.teams[0].member_count).toBe(1);
    expect((await client().patch(path, {}, at(1))).body.team.member_count).toBe(1);
    expect((await client().patch(`${members}/${idOf(1)}`, { role: 'lead' })).status).toBe(404);
    setUser(1, { active: true, name: 'Zed', email: 'zed@example.com' });
    expect(await count()).toBe(2);
    expect(await names()).toEqual(['User 2', 'Zed']);
    expect((await client().get(members)).body.members[1].email).toBe('zed@example.com');
    setUser(3, { name: 'New' });
    expect((await client().post(members, { user_id: idOf(3) })).status).toBe(201);
    setUser(3, { active: false });
    expect((await client().delete(path)).body.team.member_count).toBe(2);
    setUser(1, { active: false });
    expect((await client().post(`${path}/restore`)).body.team.member_count).toBe(1);
  });

  test('that deactivates a member does not prevent the removal, which is final', async () => {
    const { client, members, idOf, setUser, names } = await prepare(1);
    await client().post(members, { user_id: idOf(1) });
    setUser(1, { active: false });
    expect((await client().delete(`${members}/${idOf(1)}`)).status).toBe(204);
    setUser(1, { active: true });
    expect(await names()).toEqual([]);
  });

  test('arrives as an event too, in any order, and an older event changes nothing', async () => {
    const { client, members, idOf, workspace, version, names } = await prepare(1);
    await client().post(members, { user_id: idOf(1) });
    const publish = async (at: number, name: string, active = true) =>
      publishUser(workspace, at, { id: idOf(1), name, active });
    await publish(version() + 2, 'Second');
    await publish(version() + 1, 'First');
    expect(await names()).toEqual(['Second']);
    await publish(version() + 3, 'Third', false);
    expect(await eventually(async () => (await names()).length === 0)).toBe(true);
  });

  test('is pulled only once for many requests', async () => {
    const { client, path, version } = await prepare(1);
    expect(version()).toBe(1);
    await client().get(path);
    const before = service.internalServices.requestCounts.get('/internal/users/changes/pages');
    for (let time = 0; time < 5; time += 1) await client().get(path);
    expect(service.internalServices.requestCounts.get('/internal/users/changes/pages')).toBe(before);
  });

  test('may be one of thousands, on many pages', async () => {
    const { client, members, idOf, setUser, names } = await prepare();
    for (let number = 1; number <= 12_000; number += 1) setUser(number, {});
    // The pull may take longer than a request waits; until it is done, the user may not be there yet.
    const statuses = new Set<number>();
    const add = async () => {
      const { status } = await client().post(members, { user_id: idOf(12_000) });
      statuses.add(status);
      return status === 201;
    };
    await eventually(add, { what: 'the last page' });
    expect([...statuses].filter((status) => status !== 503)).toEqual([201]);
    expect(await names()).toEqual([`User ${idOf(12_000)}`]);
  });
});

describe('memberships of users', () => {
  const MEMBERSHIPS = '/api/v1/team-memberships';

  test('are listed by user and team, each once, page after page, without those of inactive users', async () => {
    const { client, members, path, idOf, setUser } = await prepare(1, 2, 3);
    const other = await create(client(), 'team', { name: 'other' });
    await client().post(members, { user_id: idOf(1), role: 'lead' });
    for (const number of [1, 2, 3]) await client().post(`/api/v1/teams/${other.id}/members`, { user_id: idOf(number) });
    setUser(3, { active: false });
    await client().delete(path);
    const teamId = Number(path.split('/').at(-1));
    const asked = [3, 2, 1, 1].map((number) => `user_id=${idOf(number)}`).join('&');
    const { status, body } = await client().get(`${MEMBERSHIPS}?${asked}&user_id=${Number.MAX_SAFE_INTEGER}`);
    const inOther = { team_id: other.id, team_name: 'other', role: 'member' };
    expect([status, body.memberships]).toEqual([
      200,
      [
        { user_id: idOf(1), team_id: teamId, team_name: 'team', role: 'lead', team_archived_at: MOMENT },
        { user_id: idOf(1), ...inOther },
        { user_id: idOf(2), ...inOther },
      ],
    ]);
    const rows: unknown[] = [];
    let cursor = '';
    for (;;) {
      const page = (await client().get(`${MEMBERSHIPS}?${asked}&limit=1${cursor}`)).body;
      rows.push(...page.memberships);
      if (page.pagination.has_more !== true) break;
      cursor = `&cursor=${page.pagination.next_cursor}`;
      // A cursor belongs to the users whom it was made for.
      expect((await client().get(`${MEMBERSHIPS}?user_id=${idOf(2)}${cursor}`)).body.field).toBe('cursor');
    }
    expect(rows).toEqual(body.memberships);
  });

  test('are those of the caller by default, and never of another workspace', async () => {
    const here = await prepare(1);
    await here.client().post(here.members, { user_id: here.idOf(1) });
    expect((await here.client().get(MEMBERSHIPS)).body.memberships).toEqual([]);
    const elsewhere = await prepare(2);
    const { body } = await elsewhere.client().get(`${MEMBERSHIPS}?user_id=${here.idOf(1)}`);
    expect(body).toEqual({ memberships: [], pagination: { limit: 50, has_more: false } });
  });

  test('are those of 100 users at most', async () => {
    const { client } = await prepare();
    const ask = async (count: number) =>
      client().get(`${MEMBERSHIPS}?${Array.from({ length: count }, (_, index) => `user_id=${index + 1}`).join('&')}`);
    expect((await ask(100)).status).toBe(200);
    expect(await ask(101)).toMatchObject({ status: 400, body: { field: 'user_id' } });
    for (const id of ['0', '-1', 'x', '1e400'])
      expect(await client().get(`${MEMBERSHIPS}?user_id=${id}`)).toMatchObject({ status: 400 });
  });
});
