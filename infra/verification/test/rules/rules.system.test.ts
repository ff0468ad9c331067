import { beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPES, VIEW_RESTRICTED } from '@tocsin/schemas';
import { type Client, eventually, startReceiver, startSlack } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import fc from '@tocsin/testing/fuzz';
import { PARAMETERS } from '../../../cli/src/parameters.ts';
import { withClient } from '../../../installation/databases.ts';
import { running, runningSystem } from '../../systems/running.ts';
import { setAsOthers } from '../settings-of-others.ts';
import { compareKeys, type Context, ELSEWHERE, type Item, listsOf, NO_FILTERS } from './lists.ts';
import { expectReplay } from './keys.ts';
import { EXPORTS, IMPORTED_AT_ONCE, createFront, importAll, importPictures, linesOf, withoutNames } from './move.ts';
import { OPERATIONS, readList, REVISION, writing } from './operations.ts';
import { checkReads } from './refusals.ts';
import { compareAllPlaces, readEvents, showing } from './shown.ts';
import { recordMessages, validating } from './validated.ts';
import { fillWorkspace, surroundingsOf, takeAway } from './workspace.ts';
import { writeExamples } from './write-examples.ts';
import { auditedInBoth, compareWorlds, createWorld, type World } from './worlds.ts';
import { writeTheSame } from './writes-of-the-same.ts';

const SEED = fc.readConfigureGlobal().seed ?? Date.now() % 2 ** 31;

const WRITES = Object.keys(OPERATIONS).filter((id) => OPERATIONS[id]?.method !== 'GET');

const idsOf = (items: readonly Item[]) => items.map(({ id }) => id);

describeWithServers('a workspace with restricted incidents', () => {
  const system = runningSystem();
  const without = SCOPES.filter((scope) => scope !== VIEW_RESTRICTED.scope);
  test('is to outsiders as one without them, in every answer', async () => {
    const worlds: World[] = [];
    const outsiders = new Map<World, Client[]>();
    for (const workspace of ['opaque', 'lucid']) {
      const owner = await system.as({ workspace, role: 'owner' });
      const people = [
        await system.as({ workspace, role: 'member' }),
        await system.as({ workspace, role: 'owner', scopes: without }),
      ];
      const world = await createWorld(workspace, owner, worlds.length === 0);
      worlds.push(world);
      outsiders.set(world, people);
    }
    const [opaque, lucid] = worlds as [World, World];
    for (const place of [0, 1]) {
      const clientOf = (world: World) => outsiders.get(world)?.[place] as Client;
      await auditedInBoth(worlds, clientOf);
      const { requests, operations } = await compareWorlds([opaque, lucid], clientOf);
      expect(operations.size).toBeGreaterThanOrEqual(90);
      expect(requests).toBeGreaterThan(500);
    }
    // The comparison would see what an owner sees.
    await expect(compareWorlds([opaque, lucid], ({ owner }) => owner)).rejects.toThrow();
  });
});

describeWithServers(`a generated workspace (seed ${SEED})`, () => {
  const slack = running(startSlack);
  const receiver = running(startReceiver);
  const system = runningSystem(() => ({
    ...{ receivers: [receiver], settings: { SLACK_API_URL: slack.url } },
    // The workspace is the same whatever an operator has set for other programs.
    prepare: setAsOthers,
  }));
  const client = running(
    async () => system.as({ role: 'owner' }),
    async () => undefined,
  );
  const stranger = running(
    async () => system.as({ workspace: 'strange', role: 'owner' }),
    async () => undefined,
  );
  const filled = running(
    async () =>
      withClient(system.database.adminUrl, async (sql) => {
        await recordMessages(sql);
        const reader = await system.as({ role: 'viewer', seat: 'none', scopes: ['incidents:read'] });
        const validated = validating({ sql, client, reader, stranger });
        const surroundings = await surroundingsOf(system, { client, slack, receiver });
        let shown = 0;
        const write = showing(validated.write, client, (values) => (shown += values));
        const made = await fillWorkspace(write, surroundings, SEED);
        await writeExamples(client, { ...validated, write });
        return { validated, made, shown };
      }),
    async () => undefined,
  );

  test('was written by every write of the API, each of which was validated before with the same answer', () => {
    const { accepted, refused, keyed } = filled.validated;
    expect([...accepted.keys()].sort()).toEqual(WRITES.toSorted());
    const withKey = WRITES.filter((id) => OPERATIONS[id]?.parameters.includes('Idempotency-Key'));
    expect(keyed.map(({ request }) => request.operation).sort()).toEqual(withKey.toSorted());
    const withChildren = WRITES.filter((id) => (OPERATIONS[id]?.pathIds.length ?? 0) > 1);
    expect([...filled.validated.children].sort()).toEqual(withChildren.toSorted());
    expect([...accepted.values()].reduce((sum, count) => sum + count)).toBeGreaterThan(250);
    expect(refused).toBeGreaterThan(4 * WRITES.length);
  });

  test('has writes, and nothing else, that can only be validated', async () => {
    const withParameter = Object.keys(OPERATIONS).filter((id) => OPERATIONS[id]?.parameters.includes('validate_only'));
    expect(withParameter).toEqual(WRITES);
    const path = (id: string) => OPERATIONS[id]?.path.replaceAll(/\{\w+\}/g, '1') ?? '';
    for (const id of WRITES) {
      const method = OPERATIONS[id]?.method ?? '';
      const { status, body } = await client.send(method, `${path(id)}?validate_only=yes`, {}, { [REVISION]: '1' });
      expect([id, status, body.field]).toEqual([id, 400, 'validate_only']);
    }
    for (const id of Object.keys(OPERATIONS).filter((each) => !WRITES.includes(each))) {
      const { status, body } = await client.get(`${path(id)}?validate_only=true`);
      expect([id, status, body.field]).toEqual([id, 400, 'validate_only']);
    }
  });

  /** An ID of each kind, by the path in front of it: of those that writes have named, one that is still there. */
  const idsToRead = async () => {
    const ids = new Map([...filled.validated.named].map(([path, [id = '']]): [string, string | number] => [path, id]));
    ids.set('/api/v1/incidents/', filled.made.incidents[7] ?? 0).set('/api/v1/incident-references/', 'INC-1');
    ids.set('/api/v1/pictures/', filled.made.pictures[0] ?? 0);
    ids.set('/api/v1/users/', filled.made.users[0] ?? 0).set('/api/v1/idempotency-keys/', 'once-createIncident');
    return ids.set('/api/v1/follow-ups/', (await client.get('/api/v1/follow-ups')).body.follow_ups[0].id);
  };

  test('is read only where it is, by its own people, with parameters that exist', async () => {
    const { reads, lists } = await checkReads({ client, stranger, ids: await idsToRead() });
    expect([reads, lists]).toEqual([Object.keys(OPERATIONS).length - WRITES.length, expect.any(Number)]);
    expect(lists).toBeGreaterThan(10);
  });

  test('shows each value as it was written, in all places that show it', async () => {
    expect(filled.shown).toBeGreaterThan(1_000);
    expect(await compareAllPlaces(client)).toBeGreaterThan(500);
  });

  test('is the same in another one, with its configuration, teams, services, fields and incidents', async () => {
    const lines = linesOf(await client.get(EXPORTS));
    for (const [kind, operation] of Object.entries({ team: 'Team', service: 'Service', field: 'CustomField' })) {
      const line = lines.find((each) => each.kind === kind) ?? {};
      const taken = Object.keys(PARAMETERS[`create${operation}`]?.inputs ?? {});
      // Slugs stand for the IDs of teams.
      expect([kind, taken.filter((name) => !(name in line) && !(name.replace(/_id$/, '') in line))]).toEqual([
        kind,
        [],
      ]);
    }
    const other = await system.as({ workspace: 'other', role: 'owner' });
    await createFront(other, lines);
    const incidents = lines.filter(({ kind }) => kind === 'incident');
    expect(incidents.length).toBeGreaterThanOrEqual(40);
    expect(await importAll(other, incidents)).toEqual(incidents.map(() => 'created'));
    await importPictures(other, lines);
    expect(withoutNames(linesOf(await other.get(EXPORTS)))).toEqual(withoutNames(lines));
    expect(await importAll(other, incidents)).toEqual(incidents.map(() => 'unchanged'));
    const feed = async () =>
      (await readEvents(other)).map(({ type }) => type).filter((type) => /^(incident|timeline_event)\./.test(type));
    // A relation comes with the later one of its incidents, and changes both.
    type Named = { external: { source: string; id: string } };
    const nameOf = ({ external: { source, id } }: Named) => `${source}:${id}`;
    const place = new Map(incidents.map((line, index) => [nameOf(line as unknown as Named), index]));
    const related = incidents.flatMap(({ relations }, index) =>
      (relations as Named[]).flatMap((relation) => {
        const other = place.get(nameOf(relation)) ?? -1;
        const request = Math.floor(Math.max(index, other) / IMPORTED_AT_ONCE);
        return [`${request} ${index}`, `${request} ${other}`];
      }),
    );
    expect(related.length).toBeGreaterThan(0);
    const pictures = lines.filter(({ kind }) => kind === 'picture');
    expect(pictures.length).toBeGreaterThan(0);
    const count = incidents.length + new Set(related).size + pictures.length;
    await eventually(async () => (await feed()).length === count);
    expect(new Set(await feed())).toEqual(new Set(['incident.imported']));
  });

  describe('in lists', () => {
    const context = running(
      async (): Promise<Context> => {
        const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
        const { workflow_statuses: statuses, severities, service_tiers: tiers } = configuration;
        const all = async (path: string, name: string) => readList<Item>(client, `${path}?include_archived=true`, name);
        const services = await all('/api/v1/services', 'services');
        const teams = await all('/api/v1/teams', 'teams');
        const fields = await all('/api/v1/custom-fields', 'fields');
        const incidents = await Promise.all(
          ['', '/archived'].map(async (which) => readList<Item>(client, `/api/v1/incidents${which}`, 'incidents')),
        );
        return { services, teams, fields, incidents: incidents.flat(), statuses, severities, tiers };
      },
      async () => undefined,
    );
    let lists: ReturnType<typeof listsOf> = {};
    beforeAll(async () => {
      lists = listsOf(await idsToRead());
    });
    const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

    test('has no filter that is not checked', () => {
      const filters = Object.entries(OPERATIONS)
        .filter(([id]) => id.startsWith('list') && id !== 'listEvents')
        .flatMap(([id, { parameters }]) => parameters.map((name) => [id, name] as const))
        .filter(([, name]) => !NO_FILTERS.test(name) && ELSEWHERE[name] === undefined);
      const checked = (id: string) => Object.keys(lists[id]?.filters ?? {});
      expect(filters.filter(([id, name]) => !checked(id).includes(name))).toEqual([]);
    });

    test('a filter selects the elements that have what it says, and no others', async () => {
      const selective = new Set<string>();
      for (const [id, { path, name, filters }] of Object.entries(lists)) {
        const all = await readList<Item>(client, path, name);
        for (const [filter, values] of Object.entries(filters)) {
          for (const [value, selects] of values(all, context)) {
            const url = new URL(path, 'http://x');
            url.searchParams.set(filter, value);
            const listed = await readList<Item>(client, url.pathname + url.search, name);
            const expected = all.filter((item) => selects(item));
            expect({ id, filter, value, ids: idsOf(listed) }).toEqual({ id, filter, value, ids: idsOf(expected) });
            if (listed.length > 0 && listed.length < all.length) selective.add(`${id} ${filter}`);
            if (id !== 'listIncidents') continue;
            url.pathname += '/statistics';
            for (const [span, bucket] of [
              ['created_from', '2020-01-01T00:00:00Z'],
              ['bucket', 'month'],
            ] as const) {
              if (!filter.startsWith('created')) url.searchParams.set(span, bucket);
            }
            const { body } = await client.get(url.pathname + url.search);
            if (filter.startsWith('created')) continue;
            const counts = body.statistics.buckets.map(({ incidents }: { incidents: number }) => incidents);
            const sum = counts.reduce((total: number, count: number) => total + count, 0);
            expect({ filter, value, sum }).toEqual({ filter, value, sum: listed.length });
          }
        }
      }
      expect(selective.size).toBeGreaterThan(40);
    });

    test('pages of any size are the list, in the order of each sort', async () => {
      let size = SEED % 10;
      const limit = () => 1 + ((size += 7) % 10);
      // Some have rows without an ID, which never change.
      const identify = (items: readonly Item[]) => items.map((item) => item.id ?? item);
      let paged = 0;
      for (const [id, { path, name, filters, sorts }] of Object.entries(lists)) {
        for (const [sort, key] of Object.entries(sorts)) {
          const all = await readList<Item>(client, withQuery(path, sort), name);
          const sign = sort.endsWith('desc') ? -1 : 1;
          expect([id, sort, identify(await readList<Item>(client, withQuery(path, sort), name, limit))]).toEqual([
            id,
            sort,
            identify(all),
          ]);
          if (all.length > 1) paged += 1;
          if (Object.keys(filters).length > 0) expect(all.length).toBeGreaterThan(4);
          if (key === undefined) continue;
          const sorted = all.toSorted((a, b) => {
            const compared = compareKeys(key(a, context), key(b, context));
            return Number.isFinite(compared) ? sign * (compared || a.id - b.id) : compared;
          });
          expect([id, sort, idsOf(all)]).toEqual([id, sort, idsOf(sorted)]);
        }
      }
      expect(paged).toBeGreaterThan(36);
    });

    test('counts are those of the lists', async () => {
      const all = await readList<Item>(client, '/api/v1/incidents', 'incidents');
      for (const query of ['', '&status=open', '&severity=sev1&active_only=true', '&q=b']) {
        const { collection_counts: counts } = (await client.get(`/api/v1/incidents?include_counts=true${query}`)).body;
        const listed = await readList<Item>(client, `/api/v1/incidents?limit=1${query}`, 'incidents');
        expect([query, counts.matched]).toEqual([query, listed.length]);
        if (query.startsWith('&status') || query === '') {
          expect(counts.all).toBe(all.length);
          const byStatus = context.statuses.map(({ key }) => [key, all.filter(({ status }) => status === key).length]);
          expect(counts.by_status).toEqual(Object.fromEntries(byStatus));
        }
      }
    });
  });

  test('is the same after each of its properties is written as it is, and nobody hears of it', async () => {
    await takeAway(writing(client), filled.made);
    /** What is recorded after this, is recorded after all before it. */
    const recorded = async (name: string) => {
      const user = { email: `${name}@acme.example`, name };
      await client.post('/api/v1/settings/users', user);
      const entries = async () => (await client.get('/api/v1/settings/audit-log?limit=1')).body.entries;
      await eventually(async () => (await entries())[0].after?.name === name);
    };
    await recorded('first');
    const { next_cursor: now } = (await client.get('/api/v1/events?from=now')).body.pagination;
    const shown = async () => {
      const entries = await readList(client, '/api/v1/settings/audit-log', 'entries');
      const incidents = await readList<{ id: number }>(client, '/api/v1/incidents', 'incidents');
      const changelogs = incidents.map(async ({ id }) => client.get(`/api/v1/incidents/${id}/changelog?limit=100`));
      return { entries, changelogs: (await Promise.all(changelogs)).map(({ body }) => body) };
    };
    const before = await shown();
    expect(await writeTheSame(client)).toBeGreaterThan(300);
    const { incident } = (await client.post('/api/v1/incidents', { title: 'Last' })).body;
    const events = await eventually(async () => {
      const { body } = await client.get(`/api/v1/events?after=${now}&wait=1`);
      return body.events.length > 0 && body.events;
    });
    expect(events).toMatchObject([{ type: 'incident.created', data: { incident: { id: incident.id } } }]);
    await recorded('last');
    expect(await shown()).toEqual({
      entries: [expect.objectContaining({ action: 'user.created' }), ...before.entries],
      changelogs: [expect.objectContaining({ changelog: [] }), ...before.changelogs],
    });
  });

  test('answers each key with the response of its first request, whatever has changed since', async () => {
    const full = ['teams', 'services', 'users', 'api_keys', 'incidents', 'timeline_events'].flatMap((name) => [
      ...['--quota', `${name}=0`],
    ]);
    await system.admin('workspace', 'set', '--slug', 'acme', ...full);
    await eventually(async () => (await client.post('/api/v1/teams', { name: 'Beyond' })).status === 409);
    for (const { request, answer } of filled.validated.keyed) {
      const [resource] = Object.values(answer.body as Record<string, { id: number }>);
      if (request.operation === 'createIncident') await client.post(`${request.path}/${resource?.id}/archive`);
      if (/^create(?:Team|Service)$/.test(request.operation)) await client.delete(`${request.path}/${resource?.id}`);
      await expectReplay(client, { request, answer });
    }
  });
});
