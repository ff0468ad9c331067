import { describe, expect, test } from '@jest/globals';
import { type Answer, type Client, refusal } from '@tocsin/testing';
import { configureTiers, at, create, namesOf, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

/** Every page of a list, from the first to the last. */
async function pages(client: Client, path: string, limit: number): Promise<Answer['body'][]> {
  const all = [];
  let cursor: string | undefined;
  do {
    const url = `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`;
    const { status, body } = await client.get(url);
    expect(status).toBe(200);
    const { has_more: more, next_cursor: next, limit: used } = body.pagination;
    expect(used).toBe(limit);
    expect(more).toBe(next !== undefined);
    all.push(body);
    cursor = next;
  } while (cursor !== undefined);
  return all;
}

const NAMES = [
  'beta',
  'Alpha',
  'ALPHA',
  'ärger',
  'Zeta',
  'ﬁrst',
  'ＦＵＬＬ',
  'a b',
  '支払い',
  '_',
  'Ä',
  'alpha',
  '\uFDFA'.repeat(128),
];
/** Sorted by NFKC and lower case, then in the order of creation. */
const SORTED = [
  '_',
  'a b',
  'Alpha',
  'ALPHA',
  'alpha',
  'beta',
  'ﬁrst',
  'ＦＵＬＬ',
  'Zeta',
  'Ä',
  'ärger',
  '\uFDFA'.repeat(128),
  '支払い',
];

describe('the list of teams', () => {
  test.each([1, 2, 5, 100])('is sorted by name and ID, each team once, in pages of %i', async (limit) => {
    const client = service.as(newWorkspace());
    for (const name of NAMES) await create(client, 'team', { name, slug: `t${NAMES.indexOf(name)}_${name.length}` });
    const all = await pages(client, '/api/v1/teams', limit);
    expect(all.flatMap(({ teams }) => namesOf(teams))).toEqual(SORTED);
    expect(all).toHaveLength(Math.ceil(NAMES.length / limit));
  });

  test('contains archived teams only if the request includes them', async () => {
    const client = service.as(newWorkspace());
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push((await create(client, 'team', { name })).id);
    await client.delete(`/api/v1/teams/${ids[1]}`);
    const names = async (query: string) =>
      (await pages(client, `/api/v1/teams${query}`, 1)).flatMap(({ teams }) => namesOf(teams));
    expect(await names('')).toEqual(['a', 'c']);
    expect(await names('?include_archived=false')).toEqual(['a', 'c']);
    expect(await names('?include_archived=true')).toEqual(['a', 'b', 'c']);
  });

  test('an empty list is a page', async () => {
    const { body } = await service.as(newWorkspace()).get('/api/v1/teams');
    expect(body).toStrictEqual({ teams: [], pagination: { limit: 50, has_more: false } });
  });
});

describe('the list of services', () => {
  test('is sorted by the rank of the tier, name and ID, as the tiers are configured', async () => {
    const user = newWorkspace(1);
    const client = service.as(user);
    for (const tier of ['t3', 't0', 't2', 't1']) {
      for (const name of ['b', 'A', 'a']) await create(client, 'service', { name, tier });
    }
    const order = async (as = client) =>
      (await pages(as, '/api/v1/services', 5)).flatMap(({ services }) =>
        services.map(({ tier, name }: { tier: string; name: string }) => tier + name),
      );
    const of = (tier: string) => ['A', 'a', 'b'].map((name) => tier + name);
    expect(await order()).toEqual(['t0', 't1', 't2', 't3'].flatMap(of));

    const keys = ['t2', 't0', 't9', 't3', 't1'];
    const tiers = keys.map((key) => ({ key, is_default: key === 't9' }));
    await configureTiers(service, user.workspace.id, tiers);
    const later = service.as({ workspace: { ...user.workspace, version: 2 } });
    await create(later, 'service', { name: 'new' });
    // A process that has only read the previous tiers sorts the service with the new tier last and does not lose it.
    expect((await order()).at(-1)).toBe('t9new');
    const configured = ['t2', 't0', 't9', 't3', 't1'].flatMap((tier) => (tier === 't9' ? 't9new' : of(tier)));
    expect(await order(later)).toEqual(configured);
    // A process caches only the latest version, so an older request now gets the present tiers from the database.
    expect(await order()).toEqual(configured);
  });
});

describe('cursors', () => {
  const LISTS = ['/api/v1/teams', '/api/v1/services', '/api/v1/teams/{id}/members'];
  const workspaceOf = async (user = newWorkspace()) => {
    for (const id of [1, 2]) service.internalServices.setUser(user.workspace.id, { id: user.workspace.id * 10 + id });
    const fresh = { workspace: { ...user.workspace, version: 2 } };
    const client = service.as(fresh);
    const ids = [];
    for (const name of ['a', 'b']) {
      await create(client, 'service', { name });
      ids.push((await create(client, 'team', { name })).id as number);
    }
    for (const team of ids) {
      for (const id of [1, 2]) {
        await client.post(`/api/v1/teams/${team}/members`, { user_id: user.workspace.id * 10 + id });
      }
    }
    return { client, ids };
  };
  const expected = refusal(400, 'invalid_request', { field: 'cursor' });

  test.each(LISTS)('of %s belong to the workspace, the list and its filters', async (list) => {
    const [here, there] = [await workspaceOf(), await workspaceOf()];
    const path = list.replace('{id}', String(here.ids[0]));
    const cursorOf = async (query = '') =>
      (await here.client.get(`${path}?limit=1${query}`)).body.pagination.next_cursor;
    const cursor = await cursorOf();
    expect((await here.client.get(`${path}?cursor=${cursor}`)).status).toBe(200);
    // The page size is not part of the cursor's scope.
    expect((await here.client.get(`${path}?cursor=${cursor}&limit=7`)).status).toBe(200);
    expect(await there.client.get(`${list.replace('{id}', String(there.ids[0]))}?cursor=${cursor}`)).toMatchObject(
      expected,
    );
    for (const other of LISTS.filter((candidate) => candidate !== list)) {
      const elsewhere = other.replace('{id}', String(here.ids[0]));
      expect(await here.client.get(`${elsewhere}?cursor=${cursor}`)).toMatchObject(expected);
    }
    if (list.includes('{id}')) {
      expect(await here.client.get(`/api/v1/teams/${here.ids[1]}/members?cursor=${cursor}`)).toMatchObject(expected);
    } else {
      expect(await here.client.get(`${path}?include_archived=true&cursor=${cursor}`)).toMatchObject(expected);
      expect(await here.client.get(`${path}?cursor=${await cursorOf('&include_archived=true')}`)).toMatchObject(
        expected,
      );
      expect((await here.client.get(`${path}?include_archived=false&cursor=${cursor}`)).status).toBe(200);
    }
  });

  test.each(LISTS)('of %s that are forged, truncated or invented are refused', async (list) => {
    const { client, ids } = await workspaceOf();
    const path = list.replace('{id}', String(ids[0]));
    const cursor: string = (await client.get(`${path}?limit=1`)).body.pagination.next_cursor;
    const payload = Buffer.from(cursor, 'base64url').subarray(32);
    const forged = [
      cursor.slice(0, -2),
      `${cursor}AA`,
      cursor.startsWith('A') ? `B${cursor.slice(1)}` : `A${cursor.slice(1)}`,
      Buffer.concat([Buffer.alloc(32), payload]).toString('base64url'),
      Buffer.from('2026-01-01T00:00:00Z|1').toString('base64url'),
      'x',
      '%20',
      'a'.repeat(4096),
      'a'.repeat(4097),
      '',
    ];
    for (const text of forged) {
      const answer = await client.get(`${path}?cursor=${text}`);
      expect({ sent: text, ...answer }).toMatchObject({ sent: text, ...expected });
    }
  });

  test('keep their position while rows are created, archived and renamed', async () => {
    const client = service.as(newWorkspace());
    const teams = [];
    for (const name of ['b', 'd', 'f', 'h']) teams.push(await create(client, 'team', { name }));
    const first = await client.get('/api/v1/teams?limit=2');
    await create(client, 'team', { name: 'a' });
    await create(client, 'team', { name: 'e' });
    await client.delete(`/api/v1/teams/${teams[1].id}`);
    await client.patch(`/api/v1/teams/${teams[2].id}`, { name: 'z' }, at(1));
    const second = await client.get(`/api/v1/teams?limit=9&cursor=${first.body.pagination.next_cursor}`);
    expect(namesOf(second.body.teams)).toEqual(['e', 'h', 'z']);
  });
});

describe('query parameters', () => {
  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=x', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['cursor=', 'cursor'],
    ['include_archived=1', 'include_archived'],
    ['include_archived=TRUE', 'include_archived'],
    ['include_archived=true&include_archived=true', 'include_archived'],
    ['archived=true', 'archived'],
    ['sort=name', 'sort'],
  ])('%s is refused', async (query, field) => {
    for (const list of ['teams', 'services']) {
      expect(await service.as(newWorkspace()).get(`/api/v1/${list}?${query}`)).toMatchObject(
        refusal(400, 'invalid_request', { field }),
      );
    }
  });

  test.each(['teams/x', 'teams/0', 'teams/-1', 'teams/1.5', 'teams/01', 'services/x', 'services/0', 'teams/x/members'])(
    'the path %s contains no valid ID',
    async (path) => {
      expect(await service.as(newWorkspace()).get(`/api/v1/${path}`)).toMatchObject(
        refusal(400, 'invalid_request', { field: 'id' }),
      );
    },
  );

  test.each(['teams/9007199254740993', 'services/99999999999999999999999', 'teams/123456789/members'])(
    'the path %s is not found',
    async (path) => {
      expect(await service.as(newWorkspace()).get(`/api/v1/${path}`)).toMatchObject(refusal(404, 'not_found'));
    },
  );
});
