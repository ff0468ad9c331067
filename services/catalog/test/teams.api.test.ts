import { describe, expect, test } from '@jest/globals';
import { type Client, refusal } from '@tocsin/testing';
import { at, create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

const PATH = '/api/v1/teams';
const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** Creates a chain of teams, each below the one before, and returns their IDs, the root's first. */
async function createChain(client: Client, length: number): Promise<number[]> {
  const ids: number[] = [];
  for (let level = 0; level < length; level += 1) {
    const { id } = await create(client, 'team', { name: `level ${level}`, parent_team_id: ids.at(-1) ?? null });
    ids.push(id);
  }
  return ids;
}

const refusedParent = refusal(400, 'invalid_request', { field: 'parent_team_id' });

describe('creating a team', () => {
  test('returns the complete resource; properties without a value are absent', async () => {
    const user = newWorkspace();
    const { status, body, headers } = await service.as(user).post(PATH, { name: ' Site Reliability ' });
    expect(status).toBe(201);
    expect(headers.get('Service-Resource-Version')).toBe('1');
    expect(body).toStrictEqual({
      team: {
        id: expect.any(Number),
        revision: 1,
        company_id: user.workspace.id,
        name: 'Site Reliability',
        slug: 'site_reliability',
        member_count: 0,
        created_at: MOMENT,
        updated_at: body.team.created_at,
      },
    });
    const read = await service.as(user).get(`${PATH}/${body.team.id}`);
    expect(read.body).toStrictEqual(body);
    expect(read.headers.get('Service-Resource-Version')).toBe('1');
  });

  test('requires a parent to be an active team of the workspace', async () => {
    const client = service.as(newWorkspace());
    const parent = await create(client, 'team', { name: 'parent' });
    const child = await create(client, 'team', { name: 'child', parent_team_id: parent.id, description: 'd' });
    expect(child).toMatchObject({ parent_team_id: parent.id, description: 'd' });
    await client.delete(`${PATH}/${parent.id}`);
    const foreign = await create(service.as(newWorkspace()), 'team', { name: 'foreign' });
    for (const id of [parent.id, foreign.id, 999_999_999]) {
      expect(await client.post(PATH, { name: 'x', parent_team_id: id })).toMatchObject(refusedParent);
    }
  });
});

describe('changing a team', () => {
  test('changes the given properties; null clears; equal values change nothing', async () => {
    const client = service.as(newWorkspace());
    const parent = await create(client, 'team', { name: 'parent' });
    const made = await create(client, 'team', { name: 'team', description: 'd', parent_team_id: parent.id });
    const path = `${PATH}/${made.id}`;
    await client.delete(`${PATH}/${parent.id}`);
    for (const body of [{}, { name: ' team ', description: 'd', parent_team_id: parent.id }]) {
      expect((await client.patch(path, body, at(1))).body.team).toStrictEqual(made);
    }
    const renamed = await client.patch(path, { name: 'crew' }, at(1));
    expect(renamed.headers.get('Service-Resource-Version')).toBe('2');
    expect(renamed.body.team).toStrictEqual({ ...made, name: 'crew', revision: 2, updated_at: MOMENT });
    const cleared = await client.patch(path, { description: null, parent_team_id: null }, at(2));
    expect(Object.keys(cleared.body.team)).toEqual([
      'id',
      'revision',
      'company_id',
      'name',
      'slug',
      'member_count',
      'created_at',
      'updated_at',
    ]);
    expect(await client.patch(path, { parent_team_id: parent.id }, at(3))).toMatchObject(refusedParent);
  });
});

describe('the hierarchy', () => {
  test('has at most 32 levels, whichever change would add the 33rd', async () => {
    const client = service.as(newWorkspace());
    const ids = await createChain(client, 32);
    expect(await client.post(PATH, { name: 'deeper', parent_team_id: ids[31] })).toMatchObject(refusedParent);
    const [top, below] = await createChain(client, 2);
    // Two levels under the 31st would be 33, under the 30th they are 32.
    expect(await client.patch(`${PATH}/${top}`, { parent_team_id: ids[30] }, at(1))).toMatchObject(refusedParent);
    expect((await client.patch(`${PATH}/${top}`, { parent_team_id: ids[29] }, at(1))).status).toBe(200);
    expect(await client.post(PATH, { name: 'deeper', parent_team_id: below })).toMatchObject(refusedParent);
    const root = await create(client, 'team', { name: 'root' });
    expect(await client.patch(`${PATH}/${ids[0]}`, { parent_team_id: root.id }, at(1))).toMatchObject(refusedParent);
  });

  test('has no cycle, not even through archived teams', async () => {
    const client = service.as(newWorkspace());
    const [a, b, c] = await createChain(client, 3);
    expect(await client.patch(`${PATH}/${a}`, { parent_team_id: a }, at(1))).toMatchObject(refusedParent);
    expect(await client.patch(`${PATH}/${a}`, { parent_team_id: c }, at(1))).toMatchObject(refusedParent);
    await client.delete(`${PATH}/${b}`);
    expect(await client.patch(`${PATH}/${a}`, { parent_team_id: c }, at(1))).toMatchObject(refusedParent);
    // Once the lowest is a root, the former root may go under it.
    await client.patch(`${PATH}/${c}`, { parent_team_id: null }, at(1));
    expect((await client.patch(`${PATH}/${a}`, { parent_team_id: c }, at(1))).status).toBe(200);
  });

  test.each([2, 3, 6])('%i teams that concurrently move below each other make no cycle', async (count) => {
    const client = service.as(newWorkspace());
    for (let round = 0; round < 5; round += 1) {
      const ids: number[] = [];
      for (let index = 0; index < count; index += 1) ids.push((await create(client, 'team', { name: 't' })).id);
      const answers = await Promise.all(
        ids.map(async (id, index) =>
          client.patch(`${PATH}/${id}`, { parent_team_id: ids[(index + 1) % count] }, at(1)),
        ),
      );
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused).toHaveLength(1);
      expect(refused[0]).toMatchObject(refusedParent);
    }
  });

  test('two concurrent moves do not add up to more than 32 levels', async () => {
    const client = service.as(newWorkspace());
    const upper = await createChain(client, 15);
    const middle = await createChain(client, 15);
    const lower = await createChain(client, 15);
    const answers = await Promise.all([
      client.patch(`${PATH}/${middle[0]}`, { parent_team_id: upper[14] }, at(1)),
      client.patch(`${PATH}/${lower[0]}`, { parent_team_id: middle[14] }, at(1)),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('concurrent moves, restorations and archivings do not deadlock', async () => {
    const client = service.as(newWorkspace());
    const ids = await createChain(client, 4);
    const revisionOf = async (id: number) => (await client.get(`${PATH}/${id}`)).body.team.revision as number;
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const id = ids[index % 4]!;
        const other = ids[(index * 7 + 1) % 4]!;
        if (index % 5 === 0) return client.delete(`${PATH}/${id}`);
        if (index % 5 === 1) return client.post(`${PATH}/${id}/restore`);
        if (index % 5 === 2) return client.post('/api/v1/services', { name: 's', owner_team_id: other });
        return client.patch(`${PATH}/${id}`, { parent_team_id: other, name: `n${index}` }, at(await revisionOf(id)));
      }),
    );
    expect(answers.filter(({ status }) => status >= 500).map(({ body }) => body)).toEqual([]);
  });
});

describe('archiving a team', () => {
  test('keeps it as a parent and as an owner', async () => {
    const client = service.as(newWorkspace());
    const made = await create(client, 'team', { name: 'team' });
    const child = await create(client, 'team', { name: 'child', parent_team_id: made.id });
    const owned = await create(client, 'service', { name: 's', owner_team_id: made.id });
    await client.delete(`${PATH}/${made.id}`);
    expect((await client.get(PATH)).body.teams).toStrictEqual([child]);
    expect((await client.get(`/api/v1/services/${owned.id}`)).body.service).toStrictEqual(owned);
  });

  test('it can be restored only while its parent is active', async () => {
    const client = service.as(newWorkspace());
    const [parent, child] = await createChain(client, 2);
    for (const id of [child, parent]) await client.delete(`${PATH}/${id}`);
    expect(await client.post(`${PATH}/${child}/restore`)).toMatchObject(
      refusal(409, 'invalid_relationship_state', { field: 'parent_team_id' }),
    );
    expect((await client.post(`${PATH}/${parent}/restore`)).status).toBe(200);
    expect((await client.post(`${PATH}/${child}/restore`)).body.team).toMatchObject({
      revision: 3,
      parent_team_id: parent,
    });
  });

  test('refuses it as an owner from then on, also for concurrent creates', async () => {
    const client = service.as(newWorkspace());
    const team = await create(client, 'team', { name: 't' });
    const [archived, ...answers] = await Promise.all([
      client.delete(`${PATH}/${team.id}`),
      ...Array.from({ length: 12 }, async () => client.post('/api/v1/services', { name: 's', owner_team_id: team.id })),
    ]);
    const at = archived.body.team.archived_at as string;
    for (const { status, body } of answers) {
      if (status === 201) expect(body.service.created_at <= at).toBe(true);
      else expect(body).toMatchObject({ code: 'invalid_request', field: 'owner_team_id' });
    }
  });
});

describe('workspaces', () => {
  test('have members of their own', async () => {
    const { id } = await create(service.as(newWorkspace()), 'team', { name: 't' });
    const other = service.as(newWorkspace());
    const answers = await Promise.all([
      other.get(`${PATH}/${id}/members`),
      other.post(`${PATH}/${id}/members`, { user_id: 1 }),
      other.patch(`${PATH}/${id}/members/1`, { role: 'lead' }),
      other.delete(`${PATH}/${id}/members/1`),
    ]);
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 4 }, () => [404, 'not_found']),
    );
  });
});
