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

test('a change of the tiers between two pages neither hides nor repeats a service whose tier stays', async () => {
  const user = newWorkspace(1);
  for (const [index, tier] of ['t0', 't2', 't2', 't3', 't3'].entries()) {
    await create(service.as(user), 'service', { name: `s${index}`, tier });
  }
  let { version } = user.workspace;
  const read = async (query: string) => {
    const answer = await service.as({ workspace: { ...user.workspace, version } }).get(`/api/v1/services${query}`);
    return { ...answer, names: answer.status === 200 ? namesOf(answer.body.services) : [] };
  };
  const configureKeys = async (...keys: string[]) => {
    await configureTiers(
      service,
      user.workspace.id,
      keys.map((key) => ({ key, is_default: key === 't2' })),
    );
    version += 1;
  };
  const first = await read('?limit=2');
  expect(first.names).toEqual(['s0', 's1']);
  const cursor = `cursor=${first.body.pagination.next_cursor}`;
  // One that no service has goes, one comes, and all move.
  for (const keys of [
    ['t0', 't2', 't3'],
    ['t0', 'new', 't1', 't2', 't3'],
    ['t3', 't2', 't0'],
  ]) {
    await configureKeys(...keys);
    const second = await read(`?limit=2&${cursor}`);
    expect(second.names).toEqual(keys[0] === 't3' ? ['s2', 's0'] : ['s2', 's3']);
  }
  for (const { id, revision } of (await read('?tier=t2')).body.services) {
    const headers = { 'If-Service-Resource-Version': String(revision) };
    await service
      .as({ workspace: { ...user.workspace, version } })
      .patch(`/api/v1/services/${id}`, { tier: 't0' }, headers);
  }
  await configureTiers(
    service,
    user.workspace.id,
    ['t0', 't3'].map((key) => ({ key, is_default: key === 't0' })),
  );
  version += 1;
  expect(await read(`?${cursor}`)).toMatchObject(refusal(400, 'invalid_request', { field: 'cursor' }));
});

describe('cursors', () => {
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
