import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { at, create, newWorkspace, serviceForFile, type TestService } from './service.ts';

const service = await serviceForFile();

const PATH = '/api/v1/services';
/** The properties that every service has. */
const BARE = ['id', 'revision', 'company_id', 'name', 'slug', 'tier', 'tags', 'created_at', 'updated_at'];
const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('creating a service', () => {
  test('returns the complete resource; properties without a value are absent', async () => {
    const user = newWorkspace();
    const { status, body, headers } = await service.as(user).post(PATH, { name: '  Checkout API ' });
    expect(status).toBe(201);
    expect(headers.get('Service-Resource-Version')).toBe('1');
    expect(body).toStrictEqual({
      service: {
        id: expect.any(Number),
        revision: 1,
        company_id: user.workspace.id,
        name: 'Checkout API',
        slug: 'checkout_api',
        tier: 't2',
        tags: [],
        created_at: MOMENT,
        updated_at: body.service.created_at,
      },
    });
    const read = await service.as(user).get(`${PATH}/${body.service.id}`);
    expect(read.body).toStrictEqual(body);
    expect(read.headers.get('Service-Resource-Version')).toBe('1');
  });

  test('stores the given values, normalised', async () => {
    const client = service.as(newWorkspace());
    const team = await create(client, 'team', { name: 'Payments' });
    const { body } = await client.post(PATH, {
      name: 'Ledger',
      slug: 'ledger_v2',
      description: ' Books.\n',
      owner_team_id: team.id,
      tier: 't0',
      tags: [' Prod', 'prod', '', 'EU '],
      external_id: '  ext-1 ',
      observability_names: ['ledger', ' LEDGER ', 'ledger-db'],
    });
    expect(body.service).toMatchObject({
      slug: 'ledger_v2',
      description: ' Books.\n',
      owner_team_id: team.id,
      owner_team_name: 'Payments',
      owner_team_slug: 'payments',
      tier: 't0',
      tags: ['Prod', 'EU'],
      external_id: 'ext-1',
      observability_names: ['ledger', 'ledger-db'],
    });
    const { body: read } = await client.get(`${PATH}/${body.service.id}`);
    expect(read).toStrictEqual(body);
  });

  test('nulls and empty lists of names are absent; an empty text is a value', async () => {
    const client = service.as(newWorkspace());
    const { body } = await client.post(PATH, {
      name: 'Bare',
      description: null,
      owner_team_id: null,
      external_id: null,
      observability_names: [' '],
      tags: [],
    });
    expect(Object.keys(body.service)).toEqual(BARE);
    const { body: empty } = await client.post(PATH, { name: 'Empty', description: '' });
    expect(empty.service).toMatchObject({ description: '' });
  });

  test.each([
    ['an owner that does not exist', async () => 999_999_999],
    [
      'an archived owner',
      async (client: ReturnType<TestService['as']>) => {
        const { id } = await create(client, 'team', { name: 'gone' });
        await client.delete(`/api/v1/teams/${id}`);
        return id;
      },
    ],
    [
      "another workspace's team",
      async () => (await create(service.as(newWorkspace()), 'team', { name: 'foreign' })).id,
    ],
  ])('refuses %s', async (_what, teamOf) => {
    const client = service.as(newWorkspace());
    const answer = await client.post(PATH, { name: 'x', owner_team_id: await teamOf(client) });
    expect(answer).toMatchObject(refusal(400, 'invalid_request', { field: 'owner_team_id' }));
  });
});

describe('slugs', () => {
  test('generated ones are numbered if they are taken, by archived services too', async () => {
    const client = service.as(newWorkspace());
    const first = await create(client, 'service', { name: 'API' });
    await client.delete(`${PATH}/${first.id}`);
    const others = [];
    for (const name of ['api', 'Api!', ' api ']) others.push((await create(client, 'service', { name })).slug);
    expect([first.slug, ...others]).toEqual(['api', 'api_2', 'api_3', 'api_4']);
  });

  test('a hundred and fifty equal names get a hundred and fifty slugs', async () => {
    const client = service.as(newWorkspace());
    const made = [];
    // More at once could wait longer for a connection than a request may.
    for (let round = 0; round < 10; round += 1) {
      const creates = Array.from({ length: 15 }, async () => create(client, 'service', { name: 'same' }));
      made.push(...(await Promise.all(creates)));
    }
    const expected = ['same', ...Array.from({ length: 149 }, (_, index) => `same_${index + 2}`)];
    expect(new Set(made.map(({ slug }) => slug))).toEqual(new Set(expected));
  });

  test('a given one that is or was taken is refused, canonically equal spellings included', async () => {
    const client = service.as(newWorkspace());
    const cafe = await create(client, 'service', { name: 'x', slug: 'cafe\u0301' });
    expect(cafe.slug).toBe('café');
    const expected = refusal(409, 'duplicate_slug', { field: 'slug' });
    expect(await client.post(PATH, { name: 'y', slug: 'café' })).toMatchObject(expected);
    await client.delete(`${PATH}/${cafe.id}`);
    expect(await client.post(PATH, { name: 'y', slug: 'cafe\u0301' })).toMatchObject(expected);
    // Another workspace has slugs of its own.
    expect((await service.as(newWorkspace()).post(PATH, { name: 'y', slug: 'café' })).status).toBe(201);
  });

  test('twenty concurrent creates with one slug make one service and nineteen refusals', async () => {
    const client = service.as(newWorkspace());
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => client.post(PATH, { name: 'x', slug: 'wanted' })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status, body }) => status === 409 && body.code === 'duplicate_slug')).toHaveLength(19);
  });

  test('do not change with the name', async () => {
    const client = service.as(newWorkspace());
    const { id } = await create(client, 'service', { name: 'Old' });
    const { body } = await client.patch(`${PATH}/${id}`, { name: 'New' }, at(1));
    expect(body.service).toMatchObject({ name: 'New', slug: 'old', revision: 2 });
  });

  test('are required with a name that has no letter', async () => {
    const client = service.as(newWorkspace());
    expect(await client.post(PATH, { name: '42 🙂' })).toMatchObject(
      refusal(400, 'invalid_request', { field: 'slug' }),
    );
    expect((await client.post(PATH, { name: '42 🙂', slug: 'answer' })).status).toBe(201);
  });
});

describe('changing a service', () => {
  test('changes the given properties and keeps the others; null clears', async () => {
    const client = service.as(newWorkspace());
    const team = await create(client, 'team', { name: 'Owners' });
    const full = await create(client, 'service', {
      name: 'Full',
      description: 'd',
      owner_team_id: team.id,
      external_id: 'e',
      tags: ['a'],
      observability_names: ['o'],
    });
    const path = `${PATH}/${full.id}`;
    const renamed = await client.patch(path, { name: ' Fuller ', tier: 't1', tags: ['b', 'B'] }, at(1));
    expect(renamed.headers.get('Service-Resource-Version')).toBe('2');
    expect(renamed.body.service).toStrictEqual({
      ...full,
      name: 'Fuller',
      tier: 't1',
      tags: ['b'],
      revision: 2,
      updated_at: MOMENT,
    });
    const cleared = await client.patch(
      path,
      { description: null, owner_team_id: null, external_id: null, tags: [], observability_names: [] },
      at(2),
    );
    expect(Object.keys(cleared.body.service)).toEqual(BARE);
    expect((await client.get(path)).body).toStrictEqual(cleared.body);
  });

  test('without properties or with equal values keeps revision and time, even with an owner archived since', async () => {
    const client = service.as(newWorkspace());
    const team = await create(client, 'team', { name: 'Owners' });
    const whole = { name: 'Same', description: 'd', owner_team_id: team.id, tags: ['a', 'b'], external_id: 'e' };
    const made = await create(client, 'service', whole);
    await client.delete(`/api/v1/teams/${team.id}`);
    const path = `${PATH}/${made.id}`;
    for (const body of [{}, whole, { name: '  Same ', tags: [' a', 'A', 'b'], tier: 't2' }]) {
      const answer = await client.patch(path, body, at(1));
      expect(answer.status).toBe(200);
      expect(answer.body.service).toStrictEqual(made);
    }
    const other = await create(client, 'service', { name: 'Other' });
    expect(await client.patch(`${PATH}/${other.id}`, { owner_team_id: team.id }, at(1))).toMatchObject({
      status: 400,
      body: { field: 'owner_team_id' },
    });
  });

  test('shows the present name of the owner', async () => {
    const client = service.as(newWorkspace());
    const team = await create(client, 'team', { name: 'Before' });
    const made = await create(client, 'service', { name: 's', owner_team_id: team.id });
    await client.patch(`/api/v1/teams/${team.id}`, { name: 'After' }, at(1));
    const { body } = await client.get(`${PATH}/${made.id}`);
    expect(body.service).toStrictEqual({ ...made, owner_team_name: 'After' });
  });

  test('checks the revision in the documented order', async () => {
    const client = service.as(newWorkspace());
    const { id } = await create(client, 'service', { name: 's' });
    const path = `${PATH}/${id}`;
    const field = 'If-Service-Resource-Version';
    const refused = async (body: unknown, headers: Record<string, string>, to = path) => {
      const answer = await client.patch(to, body, headers);
      return [answer.status, answer.body.code, answer.body.field];
    };
    expect(await refused({ name: 1 }, {})).toEqual([428, 'precondition_required', field]);
    for (const bad of ['0', '-1', '+1', '01', '1.0', '"1"', 'W/"1"', '9007199254740992', 'x']) {
      expect(await refused({ name: 1 }, { [field]: bad })).toEqual([400, 'invalid_precondition', field]);
    }
    expect(await refused({ name: 1 }, at(1), `${PATH}/999999999`)).toEqual([400, 'invalid_request', 'name']);
    expect(await refused({ slug: 'x' }, at(7))).toEqual([400, 'unknown_field', 'slug']);
    expect(await refused({ name: 'x' }, at(7), `${PATH}/999999999`)).toEqual([404, 'not_found', undefined]);
    expect(await refused({ tier: 'none', owner_team_id: 999_999 }, at(7))).toEqual([412, 'precondition_failed', field]);
    expect(await refused({ tier: 'none' }, at(1))).toEqual([400, 'invalid_request', 'tier']);
    await client.delete(path);
    expect(await refused({ tier: 'none' }, at(7))).toEqual([409, 'invalid_resource_state', undefined]);
  });

  test('of ten concurrent changes of one revision, one succeeds', async () => {
    const client = service.as(newWorkspace());
    const { id } = await create(client, 'service', { name: 's' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => client.patch(`${PATH}/${id}`, { name: `s${index}` }, at(1))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
    expect((await client.get(`${PATH}/${id}`)).body.service.revision).toBe(2);
  });
});

describe('archiving a service', () => {
  test('leaves it readable and restorable, and removes it from the list', async () => {
    const client = service.as(newWorkspace());
    const made = await create(client, 'service', { name: 's' });
    const path = `${PATH}/${made.id}`;
    const archived = await client.delete(path);
    expect(archived.status).toBe(200);
    expect(archived.headers.get('Service-Resource-Version')).toBe('2');
    expect(archived.body.service).toStrictEqual({ ...made, revision: 2, updated_at: MOMENT, archived_at: MOMENT });
    expect((await client.get(path)).body).toStrictEqual(archived.body);
    expect((await client.get(PATH)).body.services).toEqual([]);
    expect((await client.get(`${PATH}?include_archived=true`)).body.services).toStrictEqual([archived.body.service]);
    const expected = refusal(409, 'invalid_resource_state');
    expect(await client.delete(path)).toMatchObject(expected);
    expect(await client.patch(path, {}, at(2))).toMatchObject(expected);
    const restored = await client.post(`${path}/restore`);
    expect(restored.status).toBe(200);
    expect(restored.headers.get('Service-Resource-Version')).toBe('3');
    expect(restored.body.service).toStrictEqual({ ...made, revision: 3, updated_at: MOMENT });
    expect(await client.post(`${path}/restore`)).toMatchObject(expected);
  });

  test('it can be restored only while its owner is active', async () => {
    const client = service.as(newWorkspace());
    const team = await create(client, 'team', { name: 't' });
    const made = await create(client, 'service', { name: 's', owner_team_id: team.id });
    const path = `${PATH}/${made.id}`;
    await client.delete(`/api/v1/teams/${team.id}`);
    expect((await client.get(path)).body.service.owner_team_id).toBe(team.id);
    await client.delete(path);
    expect(await client.post(`${path}/restore`)).toMatchObject(
      refusal(409, 'invalid_relationship_state', { field: 'owner_team_id' }),
    );
    await client.post(`/api/v1/teams/${team.id}/restore`);
    expect((await client.post(`${path}/restore`)).body.service).toMatchObject({ revision: 3, owner_team_id: team.id });
  });
});

describe('workspaces', () => {
  test('are separate', async () => {
    const { id } = await create(service.as(newWorkspace()), 'service', { name: 's' });
    const other = service.as(newWorkspace());
    const answers = await Promise.all([
      other.get(`${PATH}/${id}`),
      other.patch(`${PATH}/${id}`, { name: 'x' }, at(1)),
      other.delete(`${PATH}/${id}`),
      other.post(`${PATH}/${id}/restore`),
    ]);
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 4 }, () => [404, 'not_found']),
    );
    expect((await other.get(`${PATH}?include_archived=true`)).body.services).toEqual([]);
  });
});
