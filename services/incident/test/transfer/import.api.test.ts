import { describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { configure } from '../configure.ts';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';
import { aField, aTeam, aUser } from '../snapshots.ts';
import { anEvent, anItem, IMPORTS, transferWorkspace } from './transfer.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });

/** The events about incidents; the configuration of a workspace has one, too. */
const publishedOf = (workspaceId: number) =>
  broker.published.filter(({ workspace, type }) => workspace.id === workspaceId && type !== 'audit.recorded');

const WHOLE = {
  external: { source: 'dispatch', id: '214', url: 'https://dispatch.acme.example/214' },
  status_changed_at: '2024-03-02T21:40:00.000Z',
  service: 'checkout',
  regions: ['eu-west', ' EU-WEST '],
  team: 'payments',
  issue_type: 'postmortem',
  impact_summary: 'No card payments',
  customer_impact_status: 'confirmed',
  moments: { impact_started_at: '2024-03-02T17:55:00Z', recovered_at: '2024-03-02T20:15:00+01:00' },
  people: {
    manager: { name: 'Ben' },
    responders: [
      { name: 'Cy', email: 'CY@acme.example' },
      { name: 'Di', email: 'di@old.example' },
    ],
  },
  values: { cause: 'capacity' },
  timeline: [
    anEvent('2', {
      started_at: '2024-03-02T19:00:00Z',
      title: 'Rolled back',
      is_key: true,
      tags: ['deploy'],
      group: 'Comms',
    }),
    anEvent('1', {
      type: 'resolution',
      source: 'pagerduty',
      source_ref: 'log/1',
      author: { name: 'Ana', email: 'ana@acme.example' },
    }),
  ],
  changelog: [
    {
      changed_at: '2024-03-02T18:10:00Z',
      actor: { name: 'Ben' },
      changes: [{ field: 'severity', from: 'sev3', to: 'sev2' }],
    },
  ],
};

async function preparedWorkspace() {
  const workspace = await transferWorkspace(service);
  await service.owners.change(workspace.id, (data) => {
    data.teams = [aTeam(workspace.id, { slug: 'payments', archived_at: '2025-01-01T00:00:00.000Z' })];
    data.fields = [aField(workspace.id, { slug: 'cause', required: true, required_on_creation: true })];
  });
  const { knex: database } = service;
  await configure(database, workspace.id, { timeline_groups: [{ id: 2, name: 'Comms' }] });
  return workspace;
}

describe('an imported incident', () => {
  test('has the times, people, values and timeline of its source, and is found by it', async () => {
    const { id, client, results } = await preparedWorkspace();
    const [result] = await results(anItem('214', WHOLE));
    expect(result).toEqual({
      index: 0,
      outcome: 'created',
      incident_id: expect.any(Number),
      human_id: 'INC-1',
      revision: 1,
    });
    const path = `/api/v1/incidents/${result.incident_id}`;
    const { incident } = (await client.get(path)).body;
    expect(incident).toMatchObject({
      ...{ external_id: 'dispatch:214', external_url: WHOLE.external.url, imported_at: expect.any(String) },
      ...{
        title: 'Incident 214',
        status: 'closed',
        severity: 'sev2',
        severity_mode: 'manual',
        issue_type: 'postmortem',
      },
      ...{ created_at: '2024-03-02T18:04:00.000Z', created_by: '42', status_changed_at: WHOLE.status_changed_at },
      ...{ regions: ['eu-west'], team_id: id, incident_manager: 'Ben' },
      incident_responders: ['43', 'Di <di@old.example>'],
      ...{ impact_started_at: '2024-03-02T17:55:00.000Z', recovered_at: '2024-03-02T19:15:00.000Z' },
      ...{ custom_fields: { cause: 'capacity' }, event_count: 2, duration_seconds: 80 * 60 },
      ...{ last_event_at: '2024-03-02T19:00:00.000Z', last_event_summary: 'Rolled back' },
    });
    const { events } = (await client.get(`${path}/timeline`)).body;
    expect(events).toMatchObject([
      { type: 'resolution', source: 'pagerduty', source_ref: 'log/1', created_by: '42', revision: 1, imported: true },
      {
        type: 'note',
        source: 'import',
        created_by: 'Ben',
        is_key: true,
        tags: ['deploy'],
        group_id: 2,
        title: 'Rolled back',
      },
    ]);
    expect((await client.get(`${path}/timeline?q=ROLLED`)).body.matched_count).toBe(1);
    const { changelog } = (await client.get(`${path}/changelog`)).body;
    expect(changelog).toMatchObject([
      { ...{ actor: '42', api_key: { name: 'mover' }, changes: [] }, revision: 1, imported: false },
      { actor: 'Ben', api_key: null, changed_at: '2024-03-02T18:10:00.000Z', revision: 1, imported: true },
    ]);
    for (const query of [
      'external_id=dispatch:214',
      'service=checkout',
      'q=Incident',
      'region=eu-west',
      'created_to=2024-03-03T00:00:00Z',
    ])
      expect([query, (await client.get(`/api/v1/incidents?${query}`)).body.incidents]).toMatchObject([
        query,
        [{ id: incident.id }],
      ]);
  });

  test('is one event in the feed, and notifies nobody', async () => {
    const { id, results } = await preparedWorkspace();
    const [{ incident_id: incidentId }] = await results(anItem('214', WHOLE));
    await results(anItem('214', WHOLE));
    await results(anItem('214', { ...WHOLE, timeline: [anEvent('3')] }));
    await eventually(() => publishedOf(id).length === 2);
    expect(publishedOf(id).map(({ type }) => type)).toEqual(['incident.imported', 'incident.imported']);
    expect(publishedOf(id).map(({ data }) => data)).toMatchObject([
      {
        ...{ outcome: 'created', actor: '42' },
        incident: { id: incidentId, revision: 1, event_count: 2, external_id: 'dispatch:214' },
      },
      { outcome: 'updated', actor: '42', incident: { id: incidentId, revision: 2, event_count: 3 } },
    ]);
  });

  test('has an entry by the importer for each revision, and each request that changes something is in the audit log', async () => {
    const { id, client, send } = await preparedWorkspace();
    const [{ incident_id: incidentId }] = (await send(anItem('214', WHOLE), anItem('1', { status: 'x' }))).body.results;
    await send(anItem('214', WHOLE));
    await send(anItem('214', { timeline: [anEvent('3')] }), anItem('214', { timeline: [anEvent('4')] }));
    await send(
      anItem('214', { created_at: '2020-01-01T00:00:00Z', author: { name: 'Eve' }, status_changed_at: null }),
      anItem('215'),
    );
    const { changelog } = (await client.get(`/api/v1/incidents/${incidentId}/changelog`)).body;
    const own = { actor: '42', api_key: { name: 'mover', prefix: 'tcs_move' }, imported: false };
    expect(changelog).toMatchObject([
      {
        ...own,
        revision: 4,
        changes: [
          { field: 'created_at', from: '2024-03-02T18:04:00.000Z', to: '2020-01-01T00:00:00.000Z' },
          { field: 'created_by', from: '42', to: 'Eve' },
          { field: 'status_changed_at', from: WHOLE.status_changed_at, to: null },
        ],
      },
      { ...own, revision: 3, changes: [{ from: null, to: 'Body 4' }] },
      { ...own, revision: 3, changes: [] },
      { ...own, revision: 2, changes: [{ from: null, to: 'Body 3' }] },
      { ...own, revision: 2, changes: [] },
      { ...own, revision: 1, changes: [] },
      { actor: 'Ben', imported: true },
    ]);
    const audited = () =>
      broker.published.filter(
        ({ workspace, type, data }) =>
          workspace.id === id && type === 'audit.recorded' && data.entry.action === 'incidents.imported',
      );
    await eventually(() => audited().length === 3);
    const actor = { type: 'user', user_id: 42 };
    expect(audited().map(({ data }) => data.entry)).toMatchObject([
      { actor, before: null, after: { created: 1, updated: 0, unchanged: 0, refused: 1 } },
      { actor, after: { created: 0, updated: 2, unchanged: 0, refused: 0 } },
      { actor, after: { created: 1, updated: 1, unchanged: 0, refused: 0 } },
    ]);
  });

  test('gets the next number, as an incident of the API after it does', async () => {
    const { client, results } = await transferWorkspace(service);
    await client.post('/api/v1/incidents', { title: 'x' });
    expect(await results(anItem('1'), anItem('2'))).toMatchObject([{ human_id: 'INC-2' }, { human_id: 'INC-3' }]);
    expect((await client.post('/api/v1/incidents', { title: 'x' })).body.incident.human_id).toBe('INC-4');
  });
});

describe('the same import again', () => {
  test('changes nothing for another zero', async () => {
    const { id, client } = await transferWorkspace(service);
    await service.owners.change(id, (data) => {
      data.fields = (['number', 'json'] as const).map((field_type, index) =>
        aField(10 * id + index, { slug: field_type, field_type }),
      );
    });
    const text = JSON.stringify({ incidents: [anItem('1', { values: { number: 0, json: { a: [0] } } })] });
    expect((await client.post(IMPORTS, text)).body.results).toMatchObject([{ outcome: 'created' }]);
    const again = text.replace('"number":0', '"number":-0').replace('[0]', '[-0]');
    expect(again.match(/-0\b/g)).toHaveLength(2);
    expect((await client.post(IMPORTS, again)).body.results).toMatchObject([{ outcome: 'unchanged', revision: 1 }]);
  });

  test('changes what differs, adds what is missing, and leaves what it does not say', async () => {
    const { client, results } = await preparedWorkspace();
    const [{ incident_id: id }] = await results(anItem('214', WHOLE));
    const path = `/api/v1/incidents/${id}`;
    const timeline = [
      anEvent('2', { body: 'Rolled back to 411', started_at: '2024-03-02T17:00:00Z' }),
      anEvent('4', { started_at: '2024-03-02T18:30:00Z' }),
    ];
    const changed = {
      title: 'Card payments',
      status: 'open',
      values: { cause: null },
      archived_at: '2024-06-01T00:00:00Z',
      timeline,
    };
    expect(await results(anItem('214', changed))).toMatchObject([{ outcome: 'updated', incident_id: id, revision: 2 }]);
    const { incident } = (await client.get(path)).body;
    expect(incident).toMatchObject({
      ...{ title: 'Card payments', status: 'open', service: 'checkout', custom_fields: {}, event_count: 3 },
      ...{ archived_at: '2024-06-01T00:00:00.000Z', archived_by: 42, last_event_summary: 'Body 4' },
      status_changed_at: expect.not.stringContaining('2024'),
    });
    const { events } = (await client.get(`${path}/timeline`)).body;
    expect(events).toMatchObject([
      { body: 'Rolled back to 411', title: 'Rolled back', is_key: true, revision: 2, collaboration_generation: 2 },
      { body: 'Body 1', revision: 1 },
      { body: 'Body 4', revision: 1 },
    ]);
    const { changelog } = (await client.get(`${path}/changelog`)).body;
    const importer = { actor: '42', api_key: { name: 'mover', prefix: 'tcs_move' }, revision: 2 };
    expect(changelog.slice(0, 2)).toMatchObject([importer, importer]);
    // What the import has replaced stays, too.
    expect(changelog[0].changes).toEqual([
      { field: `timeline_events.${events[0].id}.revision`, from: 1, to: 2 },
      { field: `timeline_events.${events[2].id}`, from: null, to: 'Body 4' },
    ]);
    expect(events[0]).toMatchObject({ edited_by: '42', edited_api_key: { name: 'mover' } });
    const event = `/api/v1/timeline/${events[0].id}`;
    expect((await client.get(`${event}/revisions`)).body.former).toMatchObject([{ revision: 1, body: 'Body 2' }]);
    // An archived incident is changed by an import, too.
    expect(await results(anItem('214', { ...changed, archived_at: null }))).toMatchObject([
      { outcome: 'updated', revision: 3 },
    ]);
    expect((await client.get(path)).body.incident).toMatchObject({ archived_at: null, archived_by: null });
    // An import brings a deleted event again, and then it cannot be restored.
    expect((await client.delete(event)).status).toBe(204);
    expect(await results(anItem('214', { timeline }))).toMatchObject([{ outcome: 'updated' }]);
    expect(await client.post(`${event}/restore`)).toMatchObject({ status: 409 });
  });

  test('counts the services that incidents name', async () => {
    const workspace = await transferWorkspace(service);
    const counted = async () => {
      const { knex: database } = service;
      const rows = await database('service_references')
        .where('workspace_id', workspace.id)
        .select('value', 'incidents')
        .orderBy('value');
      return rows;
    };
    await workspace.results(
      anItem('1', { service: 'b' }),
      anItem('2', { service: 'b' }),
      anItem('3', { service: 'a' }),
    );
    expect(await counted()).toEqual([
      { value: 'a', incidents: 1 },
      { value: 'b', incidents: 2 },
    ]);
    await workspace.results(anItem('1', { service: 'a' }), anItem('2', { archived_at: '2025-01-01T00:00:00Z' }));
    expect(await counted()).toEqual([{ value: 'a', incidents: 2 }]);
  });

  test('names the user whom somebody has become since', async () => {
    const { id, client, results } = await transferWorkspace(service);
    const author = { name: 'Di', email: 'Di@acme.example' };
    const [{ incident_id: incidentId }] = await results(anItem('1', { author }));
    await service.owners.change(id, (data) => void data.users.push(aUser(44, 'Di')));
    expect(await results(anItem('1', { author }))).toMatchObject([{ outcome: 'updated' }]);
    expect((await client.get(`/api/v1/incidents/${incidentId}`)).body.incident.created_by).toBe('44');
  });

  test('adds no earlier change again, whoever has become a user since, and however large its values are', async () => {
    const { id, client, results } = await transferWorkspace(service);
    const actor = { name: 'Di', email: 'Di@acme.example' };
    const changed_at = '2024-03-02T18:10:00Z';
    const changelog = [
      { changed_at, actor, changes: [{ field: 'title', from: 'a', to: 'b' }] },
      { changed_at, actor, changes: [{ field: 'impact_summary', from: '', to: 'x'.repeat(5_000) }] },
      { changed_at, actor: { name: 'Ben' }, changes: [{ field: 'title', from: 'a', to: 'b' }] },
    ];
    const item = anItem('1', { changelog: [...changelog, changelog[0]] });
    const [{ incident_id: incidentId }] = await results(item);
    const entries = async () =>
      (await client.get(`/api/v1/incidents/${incidentId}/changelog`)).body.changelog.filter(
        (entry: { imported: boolean }) => entry.imported,
      );
    const before = await entries();
    expect(before).toHaveLength(3);
    await service.owners.change(id, (data) => void data.users.push(aUser(44, 'Di')));
    expect(await results(item)).toMatchObject([{ outcome: 'unchanged' }]);
    // As another run may know the person.
    const renamed = { name: 'Diana', email: 'di@acme.example' };
    const again = anItem('1', { changelog: changelog.slice(0, 2).map((entry) => ({ ...entry, actor: renamed })) });
    expect(await results(again)).toMatchObject([{ outcome: 'unchanged' }]);
    expect(await entries()).toEqual(before);
  });

  test('of parts of one incident in one request adds them one after the other', async () => {
    const { client, results } = await transferWorkspace(service);
    const part = (id: string) => anItem('1', { timeline: [anEvent(id)] });
    const done = await results(part('1'), anItem('2'), part('2'), part('1'));
    expect(done).toMatchObject([
      { outcome: 'created', revision: 1, human_id: 'INC-1' },
      { outcome: 'created', human_id: 'INC-2' },
      { outcome: 'updated', revision: 2, human_id: 'INC-1' },
      { outcome: 'unchanged', revision: 2 },
    ]);
    expect((await client.get(`/api/v1/incidents/${done[0].incident_id}/timeline`)).body.matched_count).toBe(2);
  });

  test('of several requests at the same time creates each incident once', async () => {
    const { results } = await transferWorkspace(service);
    const both = await Promise.all([1, 2, 3].map(async () => results(anItem('2'), anItem('3'))));
    expect(
      both
        .flat()
        .map(({ outcome }) => outcome)
        .sort(),
    ).toEqual([...Array(2).fill('created'), ...Array(4).fill('unchanged')]);
  });
});

test('a value that its field no longer accepts may be imported again', async () => {
  const { id, results } = await transferWorkspace(service);
  const define = async (options: string[]) =>
    service.owners.change(id, (data) => {
      data.fields = [aField(id, { slug: 'zones', field_type: 'multi_select', config: { options } })];
    });
  await define(['a', 'b']);
  const item = (zones: string[]) => anItem('1', { values: { zones } });
  expect(await results(item(['a', 'b']))).toMatchObject([{ outcome: 'created' }]);
  await define(['c']);
  expect(await results(item(['a', 'b']))).toMatchObject([{ outcome: 'unchanged' }]);
  expect(await results(item(['c', 'x']))).toMatchObject([{ outcome: 'refused', field: 'values.zones.1' }]);
  expect(await results(item(['c', 'b']))).toMatchObject([{ outcome: 'updated' }]);
});

describe('an incident that the API created', () => {
  const owned = async () => {
    const workspace = await transferWorkspace(service);
    const { client } = workspace;
    const body = { title: 'x', status: 'closed', external_id: 'alert-1' };
    const { incident } = (await client.post('/api/v1/incidents', body)).body;
    const path = `/api/v1/incidents/${incident.id}`;
    const state = async () =>
      Promise.all([path, `${path}/timeline`, `${path}/changelog`].map(async (each) => (await client.get(each)).body));
    return { ...workspace, path, state };
  };

  test('is changed by no import', async () => {
    const { client, path, results, state, exported } = await owned();
    await client.post(`${path}/timeline`, { body: 'Ours' });
    const before = await state();
    const [line] = await exported();
    const { timeline, changelog, ...same } = line as Record<string, unknown[]>;
    const refused = [{ outcome: 'refused', field: 'external.id', message: expect.stringContaining('INC-1') }];
    for (const more of [
      { created_at: '2020-01-01T00:00:00Z' },
      { author: { name: 'Cy', email: 'cy@acme.example' } },
      { values: {}, title: 'y' },
      { timeline: [anEvent('1', { type: 'resolution', source: 'api' })] },
      { timeline: timeline?.map((event) => ({ ...(event as object), body: 'Other' })) },
      {
        changelog: [
          { changed_at: '2024-01-01T00:00:00Z', actor: { name: 'Cy' }, changes: [{ field: 'a', from: 1, to: 2 }] },
        ],
      },
    ]) {
      expect([more, await results({ ...same, ...more })]).toMatchObject([more, refused]);
    }
    expect(await state()).toEqual(before);
    expect(before[1].events).toMatchObject([{ imported: false }]);
  });

  test('is unchanged by what its workspace exports, also of values that fields no longer allow', async () => {
    const { id, client, path, results, state, exported } = await owned();
    const define = async (options: string[]) =>
      service.owners.change(id, (data) => {
        const config = { options };
        data.fields = [
          aField(10 * id, { slug: 'cause', field_type: 'select', config }),
          aField(10 * id + 1, { slug: 'notes', field_type: 'json' }),
        ];
      });
    await define(['capacity', 'deploy']);
    const at = async () => ({ 'If-Service-Resource-Version': String((await client.get(path)).body.incident.revision) });
    const set = async (cause: string, notes: unknown) =>
      client.patch(`${path}/custom-fields`, {
        values: [
          { slug: 'cause', value: cause },
          { slug: 'notes', value: notes },
        ],
      });
    for (const size of [5_000, 4_000, 6_000]) expect((await set('deploy', ['n'.repeat(size)])).status).toBe(200);
    await client.patch(path, { title: 'y', regions: ['b', 'a'], incident_responders: ['42', '43'] }, await at());
    for (const body of ['One', 'Two']) await client.post(`${path}/timeline`, { body, tags: ['b', 'a'], title: body });
    await client.post(`${path}/resolve`, { resolution_note: 'Done' });
    await client.post(`${path}/archive`, {});
    await define(['capacity']);
    const before = await state();
    expect(before[2].changelog.length).toBeGreaterThan(4);
    expect(await results(...(await exported()))).toMatchObject([{ outcome: 'unchanged', human_id: 'INC-1' }]);
    expect(await state()).toEqual(before);
  });

  test('gives events that were written in it another state only as further events of an import', async () => {
    const { client, results, exported } = await transferWorkspace(service);
    const [{ incident_id: id }] = await results(anItem('1'));
    const timeline = `/api/v1/incidents/${id}/timeline`;
    const { event } = (await client.post(timeline, { body: 'Ours' })).body;
    const lines = await exported();
    expect(await results(...lines)).toMatchObject([{ outcome: 'unchanged', revision: 2 }]);
    await client.patch(`/api/v1/timeline/${event.id}`, { body: 'Corrected' }, { 'If-Service-Resource-Version': '1' });
    for (const outcome of ['updated', 'unchanged']) {
      expect(await results(...lines)).toMatchObject([{ outcome }]);
      const { events } = (await client.get(timeline)).body;
      expect(events).toHaveLength(2);
      expect(events).toContainEqual(expect.objectContaining({ id: event.id, body: 'Corrected', imported: false }));
      expect(events).toContainEqual(expect.objectContaining({ body: 'Ours', imported: true }));
    }
  });
});

describe('what is refused', () => {
  const wrong: [string, object, string][] = [
    ['an unknown property', { colour: 'red' }, 'colour'],
    ['a blank title', { title: ' ' }, 'title'],
    ['a status that is not configured', { status: 'stable' }, 'status'],
    ['a severity that is not configured', { severity: 'P1' }, 'severity'],
    ['a creation in the future', { created_at: '2999-01-01T00:00:00Z' }, 'created_at'],
    ['a source of other characters', { external: { source: 'Dispatch', id: '1' } }, 'external.source'],
    [
      'an ID that is too long with its source',
      { external: { source: 'dispatch', id: 'x'.repeat(195) } },
      'external.id',
    ],
    ['a name that is a number', { author: { name: '42' } }, 'author.name'],
    ['an unknown team', { team: 'nobody' }, 'team'],
    ['an unknown field', { values: { nothing: 1 } }, 'values.nothing'],
    ['a value that the field does not allow', { values: { cause: 7 } }, 'values.cause'],
    ['an unknown group', { timeline: [anEvent('1', { group: 'None' })] }, 'timeline.0.group'],
    ['an event twice', { timeline: [anEvent('1'), anEvent('1')] }, 'timeline.1.external_id'],
    [
      'an event that ends before it starts',
      { timeline: [anEvent('1', { ended_at: '2020-01-01T00:00:00Z' })] },
      'timeline.0.ended_at',
    ],
    ['a title with U+0000', { title: 'a\0b' }, 'title'],
    ['an event with half a character', { timeline: [anEvent('1', { body: '\ud800' })] }, 'timeline.0.body'],
    ['a value beyond 2^53', { values: { count: 2 ** 60 } }, 'values.count'],
    ['a blank event', { timeline: [anEvent('1', { body: '' })] }, 'timeline.0.body'],
  ];

  test('stops no other item, and is named by its property', async () => {
    const { client, results } = await preparedWorkspace();
    const items = wrong.map(([, more], index) => anItem(`w${index}`, more));
    const done = await results(anItem('first'), ...items, null, 'x', anItem('last'));
    expect(done.at(0)).toMatchObject({ outcome: 'created', human_id: 'INC-1' });
    expect(done.at(-1)).toMatchObject({ outcome: 'created', human_id: 'INC-2', index: done.length - 1 });
    const none = { outcome: 'refused', incident_id: null, human_id: null, revision: null };
    for (const [index, [what, , field]] of wrong.entries()) {
      expect([what, done[index + 1]]).toMatchObject([
        what,
        { ...none, index: index + 1, field, message: expect.any(String) },
      ]);
    }
    expect(done.slice(wrong.length + 1, -1)).toMatchObject([none, none]);
    expect((await client.get('/api/v1/incidents')).body.incidents).toHaveLength(2);
  });

  test.each([
    [
      'more than 2,500 events',
      {
        incidents: Array.from({ length: 6 }, (_, item) =>
          anItem(String(item), { timeline: Array.from({ length: 450 }, (_, event) => anEvent(String(event))) }),
        ),
      },
      'incidents',
    ],
  ])('%s is refused as a whole', async (_, body, field) => {
    const { client } = await transferWorkspace(service);
    expect(await client.post(IMPORTS, body)).toMatchObject({ status: 400, body: { field } });
  });

  test('what exceeds a quota is refused by itself', async () => {
    const { id, client, results } = await transferWorkspace(service);
    const limited = service.as({ workspace: { id, quotas: { incidents: 2, timeline_events: 1 } } });
    const twoEvents = anItem('1', { timeline: [anEvent('1'), anEvent('2')] });
    const incidents = [twoEvents, anItem('2'), anItem('3'), anItem('4')];
    const { body } = await limited.post(IMPORTS, { incidents });
    expect(body.results.map((each: { outcome: string }) => each.outcome)).toEqual([
      'refused',
      'created',
      'created',
      'refused',
    ]);
    expect(body.results[0].message).toContain('timeline events');
    expect((await client.get('/api/v1/incidents')).body.incidents).toHaveLength(2);
    expect(await results(anItem('4'))).toMatchObject([{ outcome: 'created', human_id: 'INC-3' }]);
  });
});

test('validate_only gives the results, without what only the import assigns, and stores nothing', async () => {
  const { id, client, send, results } = await preparedWorkspace();
  await results(anItem('1'));
  await eventually(() => publishedOf(id).length === 1);
  const incidents = [
    anItem('1', { title: 'Other' }),
    anItem('214', WHOLE),
    anItem('1', { title: 'Other' }),
    anItem('2', { status: 'x' }),
    anItem('214', { timeline: [anEvent('9')] }),
    anItem('214', { timeline: [anEvent('9')] }),
  ];
  const { body, headers } = await client.post(`${IMPORTS}?validate_only=true`, { incidents });
  expect(headers.get('Validated-Only')).toBe('true');
  expect(body.results).toMatchObject([
    { outcome: 'updated', incident_id: expect.any(Number), human_id: 'INC-1', revision: 2 },
    { outcome: 'created', incident_id: null, human_id: null, revision: 1 },
    { outcome: 'unchanged', human_id: 'INC-1' },
    { outcome: 'refused', field: 'status' },
    // What becomes of further parts of a new incident does not name it either.
    { outcome: 'updated', incident_id: null, human_id: null, revision: 2 },
    { outcome: 'unchanged', incident_id: null, human_id: null, revision: 2 },
  ]);
  expect((await client.get('/api/v1/incidents')).body.incidents).toMatchObject([{ title: 'Incident 1', revision: 1 }]);
  const real = (await send(...incidents)).body.results;
  expect(real.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    'updated',
    'created',
    'unchanged',
    'refused',
    'updated',
    'unchanged',
  ]);
  await eventually(() => publishedOf(id).length === 4);
});

test('an import while users cannot be asked for is 503, and changes nothing', async () => {
  const { client } = await transferWorkspace(service);
  service.owners.down = true;
  const refused = await client.post(IMPORTS, { incidents: [anItem('1')] });
  service.owners.down = false;
  expect(refused).toMatchObject(refusal(503, 'service_unavailable'));
  expect((await client.get('/api/v1/incidents')).body.incidents).toEqual([]);
});
