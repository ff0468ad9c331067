import { describe, expect, test } from '@jest/globals';
import { type CatalogChangePage, catalogChangePage, INTERNAL_PATHS } from '@tocsin/schemas';
import { asService, eventually, httpClient } from '@tocsin/testing';
import { configureTiers, at, create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

const page = async (workspaceId: number, query: string): Promise<CatalogChangePage> => {
  const path = `${INTERNAL_PATHS.catalogChangePages}?workspace_id=${workspaceId}&${query}`;
  const { status, body } = await httpClient(service.app.url, asService('incident', 'catalog')).get(path);
  expect(status).toBe(200);
  return catalogChangePage.parse(body);
};

/** What changed after a version, which here is one page. */
const changes = async (workspaceId: number, since: number) => {
  const { version, changes: all, tiers } = await page(workspaceId, `since=${since}`);
  return {
    version,
    teams: all.flatMap((change) => ('team' in change ? [change.team] : [])),
    services: all.flatMap((change) => ('service' in change ? [change.service] : [])),
    tiers,
  };
};

const publishedVersion = async (workspaceId: number) => (await service.versions.read(['catalog'], workspaceId))[0];

describe('every change of a team or service', () => {
  test('is an event with the version that was published before the response', async () => {
    const user = newWorkspace();
    const { id: workspaceId, slug } = user.workspace;
    const client = service.as(user).with({ 'X-Request-ID': 'request-1' });
    const team = await create(client, 'team', { name: 'T' });
    expect(await publishedVersion(workspaceId)).toBe(1);
    const made = await create(client, 'service', {
      ...{ name: 'S', owner_team_id: team.id, tier: 't1', observability_names: ['s-api'] },
    });
    const teamPath = `/api/v1/teams/${team.id}`;
    const path = `/api/v1/services/${made.id}`;
    await client.patch(teamPath, { name: 'U' }, at(1));
    await client.patch(path, { tier: 't0' }, at(1));
    const archived = await client.delete(path);
    await client.post(`${path}/restore`);
    const archivedTeam = await client.delete(teamPath);
    await client.post(`${teamPath}/restore`);
    expect(await publishedVersion(workspaceId)).toBe(8);
    // None of these changes anything.
    await client.patch(path, { tier: 't0' }, at(4));
    await client.patch(path, { tier: 't1' }, at(1));
    await client.delete('/api/v1/services/999999999');
    await client.post('/api/v1/services', { name: 'x', slug: 's' });
    expect(await publishedVersion(workspaceId)).toBe(8);

    const mine = () => service.events.filter((event) => event.workspace.id === workspaceId);
    await eventually(() => mine().length >= 8, { what: 'eight events' });
    const events = mine().sort((a, b) => a.data.version - b.data.version);
    expect(events.map(({ type, data }) => [type, data.version])).toEqual([
      ['team.changed', 1],
      ['service.changed', 2],
      ['team.changed', 3],
      ['service.changed', 4],
      ['service.changed', 5],
      ['service.changed', 6],
      ['team.changed', 7],
      ['team.changed', 8],
    ]);
    const snapshot = { id: made.id, slug: 's', name: 'S', owner_team_id: team.id, observability_names: ['s-api'] };
    expect(events.map(({ data }) => data.service ?? data.team)).toStrictEqual([
      { id: team.id, revision: 1, name: 'T', slug: 't', parent_team_id: null, archived_at: null },
      { ...snapshot, revision: 1, tier: 't1', archived_at: null },
      { id: team.id, revision: 2, name: 'U', slug: 't', parent_team_id: null, archived_at: null },
      { ...snapshot, revision: 2, tier: 't0', archived_at: null },
      { ...snapshot, revision: 3, tier: 't0', archived_at: archived.body.service.archived_at },
      { ...snapshot, revision: 4, tier: 't0', archived_at: null },
      {
        id: team.id,
        revision: 3,
        name: 'U',
        slug: 't',
        parent_team_id: null,
        archived_at: archivedTeam.body.team.archived_at,
      },
      { id: team.id, revision: 4, name: 'U', slug: 't', parent_team_id: null, archived_at: null },
    ]);
    for (const event of events) {
      expect(event.request_id).toBe('request-1');
      expect(event.workspace).toEqual({ id: workspaceId, slug, is_demo: false });
    }
  });

  test('does not include changes of members', async () => {
    const user = newWorkspace(1);
    const userId = user.workspace.id;
    service.internalServices.setUser(user.workspace.id, { id: userId });
    const client = service.as(user);
    const { id } = await create(client, 'team', { name: 'T' });
    await client.post(`/api/v1/teams/${id}/members`, { user_id: userId });
    await client.patch(`/api/v1/teams/${id}/members/${userId}`, { role: 'lead' });
    await client.delete(`/api/v1/teams/${id}/members/${userId}`);
    expect(await publishedVersion(user.workspace.id)).toBe(1);
    expect((await changes(user.workspace.id, 1)).teams).toEqual([]);
  });
});

describe('the changes that a replica pulls', () => {
  test('are the complete teams and services that changed after its version, and always the tiers', async () => {
    const user = newWorkspace();
    const { id: workspaceId } = user.workspace;
    const client = service.as(user);
    const tiers = ['t0', 't1', 't2', 't3'].map((key, order) => ({
      key,
      label: `Tier ${order}`,
      order,
      is_default: key === 't2',
    }));
    expect(await changes(workspaceId, 0)).toEqual({ version: 0, teams: [], services: [], tiers });
    const parent = await create(client, 'team', { name: 'parent' });
    const child = await create(client, 'team', { name: 'child', parent_team_id: parent.id });
    const made = await create(client, 'service', { name: 's', owner_team_id: child.id });
    const all = await changes(workspaceId, 0);
    expect(all.version).toBe(3);
    expect(all.teams.map(({ slug }) => slug).sort()).toEqual(['child', 'parent']);
    expect(all.services).toMatchObject([{ id: made.id, owner_team_id: child.id, tier: 't2', archived_at: null }]);
    expect((await changes(workspaceId, 2)).teams).toEqual([]);
    expect(await changes(workspaceId, 3)).toEqual({ version: 3, teams: [], services: [], tiers });
    await client.delete(`/api/v1/teams/${parent.id}`);
    const { version, teams, services } = await changes(workspaceId, 3);
    expect([version, services]).toEqual([4, []]);
    expect(teams).toMatchObject([{ id: parent.id, revision: 2, archived_at: expect.any(String) }]);

    await configureTiers(service, workspaceId, [{ key: 't2', label: 'Two', is_default: true }]);
    expect(await changes(workspaceId, 4)).toEqual({
      version: 5,
      teams: [],
      services: [],
      tiers: [{ key: 't2', label: 'Two', order: 0, is_default: true }],
    });
  });

  test('come in pages, teams and services in the order of their changes', async () => {
    const user = newWorkspace();
    const { id: workspaceId } = user.workspace;
    const client = service.as(user);
    const description = 'x'.repeat(9_000);
    const slugs: string[] = [];
    for (let number = 0; number < 250; number += 1) {
      const kind = number % 3 === 0 ? 'team' : 'service';
      slugs.push((await create(client, kind, { name: `n${number}`, description })).slug);
    }
    const seen: { version: number; slug: string }[] = [];
    let last = await page(workspaceId, 'since=0');
    const add = () =>
      seen.push(
        ...last.changes.map((change) => ({
          version: change.version,
          slug: 'team' in change ? change.team.slug : change.service.slug,
        })),
      );
    add();
    for (let count = 1; last.next !== null; count += 1) {
      expect(last.version).toBeLessThan(seen.at(-1)?.version ?? 0);
      last = await page(workspaceId, `since=${last.version}&after=${last.next}`);
      add();
      expect(count).toBeLessThan(4);
    }
    expect(last.version).toBe(250);
    expect(seen).toEqual(slugs.map((slug, index) => ({ version: index + 1, slug })));
    expect((await page(workspaceId, 'since=250')).changes).toEqual([]);
    expect(await page(workspaceId, 'since=250&after=240.1.9')).toMatchObject({ version: 250, next: null, changes: [] });
  });

  test('publish a version that is missing in Redis', async () => {
    const user = newWorkspace();
    await create(service.as(user), 'team', { name: 't' });
    await service.knex('workspace_versions').where({ workspace_id: user.workspace.id }).update({ version: 9 });
    expect(await publishedVersion(user.workspace.id)).toBe(1);
    expect((await changes(user.workspace.id, 0)).version).toBe(9);
    expect(await publishedVersion(user.workspace.id)).toBe(9);
  });

  test('are complete while sixty changes are made concurrently', async () => {
    const user = newWorkspace();
    const { id: workspaceId } = user.workspace;
    const client = service.as(user);
    const seen = new Set<number>();
    let since = 0;
    const pull = async () => {
      const { version, teams, services } = await changes(workspaceId, since);
      for (const { id } of teams) seen.add(id);
      for (const { id } of services) seen.add(-id);
      since = version;
    };
    const writes = { running: true };
    const writing = Promise.all(
      Array.from({ length: 60 }, async (_, index) =>
        index % 2 === 0
          ? ((await create(client, 'team', { name: 't' })).id as number)
          : -(await create(client, 'service', { name: 's' })).id,
      ),
    ).finally(() => (writes.running = false));
    while (writes.running) await pull();
    await pull();
    expect(seen).toEqual(new Set(await writing));
    expect(since).toBe(60);
  });
});
