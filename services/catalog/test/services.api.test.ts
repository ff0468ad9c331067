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

  test.each(['javascript:alert(1)', 'wiki.example.com', '', `https://wiki.example.com/${'a'.repeat(2_048)}`])(
    'refuses the runbook %.30s',
    async (url) => {
      const refused = await service.as(newWorkspace()).post(PATH, { name: 's', runbook_url: url });
      expect(refused).toMatchObject(refusal(400, 'invalid_request', { field: 'runbook_url' }));
    },
  );

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
      runbook_url: 'https://wiki.example.com/Ledger?page=1#Löschen',
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
      runbook_url: 'https://wiki.example.com/Ledger?page=1#Löschen',
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
  test('one with hyphens is refused with the one to use, of services and teams', async () => {
    const client = service.as(newWorkspace());
    for (const path of [PATH, '/api/v1/teams']) {
      const { status, body } = await client.post(path, { name: 'x', slug: 'checkout-API' });
      expect([status, body.field, body.message]).toEqual([
        400,
        'slug',
        expect.stringMatching(/^Must be a letter .*, such as checkout_api$/),
      ]);
      expect((await client.post(path, { name: 'x', slug: '--' })).body.message).toMatch(/at most 64[a-zA-Z0-9 -]*$/);
      expect((await client.post(path, { name: 'x', slug: 'checkout_api' })).status).toBe(201);
    }
  });

  test('canonically equal spellings are one slug', async () => {
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
      runbook_url: 'https://wiki.example.com/full',
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
      {
        ...{ description: null, owner_team_id: null, external_id: null, runbook_url: null },
        ...{ tags: [], observability_names: [] },
      },
      at(2),
    );
    expect(Object.keys(cleared.body.service)).toEqual(BARE);
    expect((await client.get(path)).body).toStrictEqual(cleared.body);
  });

  test('shows the present name of the owner', async () => {
    const client = service.as(newWorkspace());
    const team = await create(client, 'team', { name: 'Before' });
    const made = await create(client, 'service', { name: 's', owner_team_id: team.id });
    await client.patch(`/api/v1/teams/${team.id}`, { name: 'After' }, at(1));
    const { body } = await client.get(`${PATH}/${made.id}`);
    expect(body.service).toStrictEqual({ ...made, owner_team_name: 'After' });
  });
});

describe('archiving a service', () => {
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
