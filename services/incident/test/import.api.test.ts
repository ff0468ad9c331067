import { describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { configure } from './configure.ts';
import { RecordingBroker } from './fakes/recording-broker.ts';
import { serviceForFile } from './service.ts';
import { aField, aTeam, aUser } from './snapshots.ts';
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
      { type: 'resolution', source: 'pagerduty', source_ref: 'log/1', created_by: '42', revision: 1 },
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
      { actor: 'Ben', api_key: null, changed_at: '2024-03-02T18:10:00.000Z', revision: 1 },
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
      { outcome: 'created', incident: { id: incidentId, revision: 1, event_count: 2, external_id: 'dispatch:214' } },
      { outcome: 'updated', incident: { id: incidentId, revision: 2, event_count: 3 } },
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
  test('changes nothing, whatever its order', async () => {
    const { client, results } = await preparedWorkspace();
    const items = [anItem('214', WHOLE), anItem('215')];
    const first = await results(...items);
    const path = `/api/v1/incidents/${first[0].incident_id}`;
    const before = [
      (await client.get(path)).body,
      (await client.get(`${path}/timeline`)).body,
      (await client.get(`${path}/changelog`)).body,
    ];
    expect((await results(...items.toReversed())).map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged']);
    const after = [
      (await client.get(path)).body,
      (await client.get(`${path}/timeline`)).body,
      (await client.get(`${path}/changelog`)).body,
    ];
    expect(after).toEqual(before);
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
    expect(changelog[0]).toMatchObject({ actor: '42', api_key: { name: 'mover', prefix: 'tcs_move' }, revision: 2 });
    // An archived incident is changed by an import, too.
    expect(await results(anItem('214', { ...changed, archived_at: null }))).toMatchObject([
      { outcome: 'updated', revision: 3 },
    ]);
    expect((await client.get(path)).body.incident).toMatchObject({ archived_at: null, archived_by: null });
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

  test('changes an incident that has the external ID by the API, also two at the same time', async () => {
    const { client, results } = await transferWorkspace(service);
    const made = (await client.post('/api/v1/incidents', { title: 'x', external_id: 'dispatch:1' })).body.incident;
    const plain = (await client.post('/api/v1/incidents', { title: 'x', external_id: 'alert-1' })).body.incident;
    const unnamed = anItem('alert-1', { external: { source: 'external_id', id: 'alert-1' } });
    expect(await results(anItem('1'), unnamed)).toMatchObject([
      { incident_id: made.id, outcome: 'updated' },
      { incident_id: plain.id, outcome: 'updated' },
    ]);
    const both = await Promise.all([1, 2, 3].map(async () => results(anItem('2'), anItem('3'))));
    expect(
      both
        .flat()
        .map(({ outcome }) => outcome)
        .sort(),
    ).toEqual([...Array(2).fill('created'), ...Array(4).fill('unchanged')]);
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
    ['no items', { incidents: [] }, 'incidents'],
    ['51 items', { incidents: Array.from({ length: 51 }, (_, index) => anItem(String(index))) }, 'incidents'],
    ['no list', {}, 'incidents'],
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

  test('other keys: without the scope, without manage_settings, of another workspace', async () => {
    const { id, results } = await transferWorkspace(service);
    const incidents = [anItem('1')];
    const without = service.as({ workspace: { id }, scopes: ['incidents:write'] });
    expect(await without.post(IMPORTS, { incidents })).toMatchObject(refusal(403, 'missing_scope'));
    const member = service.as({ workspace: { id }, permissions: [] });
    expect(await member.post(IMPORTS, { incidents })).toMatchObject(refusal(403, 'missing_role_permission'));
    await results(anItem('1'));
    expect(await (await transferWorkspace(service)).results(anItem('1'))).toMatchObject([
      { outcome: 'created', human_id: 'INC-1' },
    ]);
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
  ];
  const { body, headers } = await client.post(`${IMPORTS}?validate_only=true`, { incidents });
  expect(headers.get('Validated-Only')).toBe('true');
  expect(body.results).toMatchObject([
    { outcome: 'updated', incident_id: expect.any(Number), human_id: 'INC-1', revision: 2 },
    { outcome: 'created', incident_id: null, human_id: null, revision: 1 },
    { outcome: 'unchanged', human_id: 'INC-1' },
    { outcome: 'refused', field: 'status' },
  ]);
  expect((await client.get('/api/v1/incidents')).body.incidents).toMatchObject([{ title: 'Incident 1', revision: 1 }]);
  const real = (await send(...incidents)).body.results;
  expect(real.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    'updated',
    'created',
    'unchanged',
    'refused',
  ]);
  await eventually(() => publishedOf(id).length === 3);
});

test('an import while users cannot be asked for is 503, and changes nothing', async () => {
  const { client } = await transferWorkspace(service);
  service.owners.down = true;
  const refused = await client.post(IMPORTS, { incidents: [anItem('1')] });
  service.owners.down = false;
  expect(refused).toMatchObject(refusal(503, 'service_unavailable'));
  expect((await client.get('/api/v1/incidents')).body.incidents).toEqual([]);
});
