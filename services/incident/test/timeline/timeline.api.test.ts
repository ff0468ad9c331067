import { describe, expect, test } from '@jest/globals';
import { type Answer } from '@tocsin/testing';
import { configure } from '../configure.ts';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();
const client = service.as();
const { knex: database } = service;
const groups = { timeline_groups: [{ id: 3, name: 'Comms' }] };
await configure(database, 1, groups);

async function declared() {
  const { body } = await client.post('/api/v1/incidents', { title: 'Checkout is down' });
  const path = `/api/v1/incidents/${body.incident.id}`;
  return {
    id: body.incident.id as number,
    path,
    timeline: `${path}/timeline`,
    now: async () => (await client.get(path)).body.incident,
    add: async (event: object): Promise<Answer> => client.post(`${path}/timeline`, event),
  };
}

async function added(event: object = {}) {
  const incident = await declared();
  const { body } = await incident.add({ body: 'Deployed', ...event });
  const path = `/api/v1/timeline/${body.event.id}`;
  return {
    incident,
    event: body.event,
    path,
    patch: async (change: unknown, revision = 1): Promise<Answer> =>
      client.patch(path, change, { 'If-Service-Resource-Version': String(revision) }),
  };
}

const refused = (status: number, code: string, field?: string) =>
  expect.objectContaining({ status, body: expect.objectContaining(field === undefined ? { code } : { code, field }) });
const invalid = (field: string) => refused(400, 'invalid_request', field);

describe('adding an event', () => {
  test('returns the whole resource with defaults', async () => {
    const incident = await declared();
    const before = Date.now();
    const { status, headers, body } = await incident.add({ body: ' Deployed ' });
    expect(status).toBe(201);
    expect(headers.get('Service-Resource-Version')).toBe('1');
    expect(body).toEqual({
      event: {
        id: expect.any(Number),
        revision: 1,
        incident_id: incident.id,
        started_at: expect.any(String),
        at: body.event.started_at,
        ended_at: null,
        is_ongoing: false,
        group_id: null,
        is_key: false,
        source: 'api',
        source_ref: '',
        type: 'note',
        icon: '',
        title: '',
        body: ' Deployed ',
        collaboration_generation: 1,
        tags: [],
        ai_context: '',
        created_by: '42',
        created_by_key: null,
        comment_count: 0,
        attachments: [],
        source_window_started_at: null,
        source_window_ended_at: null,
        evidence_links: [],
        imported: false,
        ...{ edited_by: null, edited_at: null, edited_api_key: null },
      },
    });
    const startedAt = Date.parse(body.event.started_at);
    expect(startedAt).toBeGreaterThanOrEqual(before);
    expect(startedAt).toBeLessThanOrEqual(Date.now());
    expect(await client.get(`/api/v1/timeline/${body.event.id}`)).toMatchObject({ status: 200, body });
  });

  test('accepts every property that a client may set', async () => {
    const incident = await declared();
    const { body } = await incident.add({
      body: 'Deployed',
      title: ' Rollout ',
      started_at: '2026-11-20T10:00:00.1239+01:00',
      ended_at: '2026-11-20T09:30:00Z',
      is_ongoing: false,
      group_id: 3,
      is_key: true,
      type: ' deploy ',
      icon: '🚀🚀🚀🚀🚀🚀🚀🚀',
      tags: [' DB ', 'db', '', '  ', 'eu west'],
      source: 'slack',
    });
    expect(body.event).toMatchObject({
      title: 'Rollout',
      started_at: '2026-11-20T09:00:00.123Z',
      at: '2026-11-20T09:00:00.123Z',
      ended_at: '2026-11-20T09:30:00.000Z',
      group_id: 3,
      is_key: true,
      type: 'deploy',
      icon: '🚀🚀🚀🚀🚀🚀🚀🚀',
      tags: ['DB', 'eu west'],
      source: 'api',
    });
    const old = await incident.add({ body: 'x', at: '2026-11-20T09:00:00Z', ended_at: null, is_ongoing: true });
    expect(old.body.event).toMatchObject({ started_at: '2026-11-20T09:00:00.000Z', is_ongoing: true });
  });

  test.each<[string, object]>([
    ['body', { body: ' \n\t' }],
    ['at', { body: 'x', at: '2026-11-20T09:00:00Z', started_at: '2026-11-20T09:00:00Z' }],
    ['at', { body: 'x', at: '2026-11-20' }],
    ['started_at', { body: 'x', started_at: '2026-02-30T09:00:00Z' }],
    ['ended_at', { body: 'x', at: '2026-11-20T09:00:00Z', ended_at: '2026-11-20T08:59:59Z' }],
    ['is_ongoing', { body: 'x', at: '2026-11-20T09:00:00Z', ended_at: '2026-11-20T09:00:01Z', is_ongoing: true }],
    ['icon', { body: 'x', icon: '🚀🚀🚀🚀🚀🚀🚀🚀🚀' }],
    ['type', { body: 'x', type: ' ' }],
    ...['resolution', 'closure', 'reopening', 'status_change', 'import', 'investigation', ' AI_Suggested '].map(
      (type): [string, object] => ['type', { body: 'x', type }],
    ),
    ['tags.1', { body: 'x', tags: ['a', 'x'.repeat(65)] }],
    ['tags', { body: 'x', tags: Array.from({ length: 51 }, (_, index) => `t${index}`) }],
    ['group_id', { body: 'x', group_id: 4 }],
  ])('rejects an invalid %s: %#', async (field, event) => {
    const incident = await declared();
    expect(await incident.add(event)).toEqual(invalid(field));
    expect(await incident.now()).toMatchObject({ revision: 1, event_count: 0 });
  });

  test('counts code points and not code units, and tags after normalising', async () => {
    const incident = await declared();
    const tags = Array.from({ length: 50 }, (_, index) => ` ${'🔥'.repeat(62)}${index} `).flatMap((tag) => [
      tag,
      tag,
      ' ',
    ]);
    const { status, body } = await incident.add({ body: '🔥'.repeat(65_536), tags });
    expect(status).toBe(201);
    expect(body.event.tags).toHaveLength(50);
    expect(await incident.now()).toMatchObject({ last_event_summary: '🔥'.repeat(140) });
  });
});

describe('changing an event', () => {
  test.each<[object, object]>([
    [{ title: ' New ' }, { title: 'New', collaboration_generation: 2 }],
    [{ body: 'New' }, { body: 'New', collaboration_generation: 2 }],
    [
      { title: 'New', body: 'New' },
      { title: 'New', body: 'New', collaboration_generation: 2 },
    ],
    [{ type: 'deploy' }, { type: 'deploy', collaboration_generation: 1 }],
    [{ tags: ['b', 'B', 'a'] }, { tags: ['b', 'a'] }],
    [
      { started_at: '2026-01-01T00:00:00Z' },
      { started_at: '2026-01-01T00:00:00.000Z', at: '2026-01-01T00:00:00.000Z' },
    ],
    [{ at: '2026-01-01T00:00:00Z' }, { started_at: '2026-01-01T00:00:00.000Z' }],
  ])('%j', async (change, expected) => {
    const { patch, incident, path } = await added();
    const { status, body, headers } = await patch(change);
    expect(status).toBe(200);
    expect(headers.get('Service-Resource-Version')).toBe('2');
    expect(body.event).toMatchObject({ ...expected, revision: 2 });
    expect((await client.get(path)).body).toEqual(body);
    expect(await incident.now()).toMatchObject({ revision: 3, event_count: 1, last_event_at: body.event.started_at });
    const again = await patch(change, 2);
    expect(again.body).toEqual(body);
    expect((await incident.now()).revision).toBe(3);
  });

  test('null clears nullable properties', async () => {
    const { patch } = await added({ ended_at: '2030-01-01T00:00:00Z', group_id: 3 });
    expect((await patch({ ended_at: null, group_id: null })).body.event).toMatchObject({
      ended_at: null,
      group_id: null,
    });
    for (const property of ['title', 'body', 'type', 'icon', 'tags', 'is_key', 'started_at', 'at', 'is_ongoing']) {
      expect(await patch({ [property]: null }, 2)).toEqual(invalid(property));
    }
  });

  test('validates the resulting event', async () => {
    const { patch } = await added({ at: '2026-11-20T09:00:00Z', ended_at: '2026-11-20T10:00:00Z' });
    expect(await patch({ is_ongoing: true })).toEqual(invalid('is_ongoing'));
    expect(await patch({ started_at: '2026-11-20T10:00:00.001Z' })).toEqual(invalid('started_at'));
    expect(await patch({ ended_at: '2026-11-20T08:00:00Z' })).toEqual(invalid('ended_at'));
    expect(await patch({ at: '2026-11-20T09:00:00Z', started_at: '2026-11-20T09:00:00Z' })).toEqual(invalid('at'));
    expect(await patch({ group_id: 4 })).toEqual(invalid('group_id'));
    expect(await patch({ type: 'investigation' })).toEqual(invalid('type'));
    expect(await patch({ source: 'slack' })).toEqual(refused(400, 'unknown_field', 'source'));
    expect((await patch({ is_ongoing: true, ended_at: null })).status).toBe(200);
  });

  test('keeps an existing reserved type', async () => {
    const incident = await declared();
    const { body } = await client.post(`${incident.path}/resolve`, { resolution_note: 'Rolled back' });
    const path = `/api/v1/timeline/${body.timeline_event.id}`;
    const changed = await client.patch(
      path,
      { type: 'resolution', body: 'Rolled back, all of it' },
      { 'If-Service-Resource-Version': '1' },
    );
    expect(changed.body.event).toMatchObject({ type: 'resolution', body: 'Rolled back, all of it', revision: 2 });
  });
});

describe('the timeline summary of an incident', () => {
  const figures = async (incident: { now: () => Promise<Record<string, unknown>> }) => {
    const { event_count, last_event_at, last_event_summary, revision } = await incident.now();
    return [event_count, last_event_at, last_event_summary, revision];
  };
  const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00.000Z`;

  test('is correct after every write', async () => {
    const incident = await declared();
    const add = async (body: string, hour: number) =>
      (await incident.add({ body, at: at(hour) })).body.event.id as number;
    const change = async (id: number, revision: number, properties: object) =>
      client.patch(`/api/v1/timeline/${id}`, properties, { 'If-Service-Resource-Version': String(revision) });
    const remove = async (id: number) => client.delete(`/api/v1/timeline/${id}`);

    expect(await figures(incident)).toEqual([0, null, '', 1]);
    const noon = await add('noon', 12);
    expect(await figures(incident)).toEqual([1, at(12), 'noon', 2]);
    const early = await add('early', 6);
    expect(await figures(incident)).toEqual([2, at(12), 'noon', 3]);
    const twin = await add('at noon too', 12);
    expect(await figures(incident)).toEqual([3, at(12), 'at noon too', 4]);
    await change(early, 1, { at: at(18) });
    expect(await figures(incident)).toEqual([3, at(18), 'early', 5]);
    await change(early, 2, { title: 'Evening' });
    expect(await figures(incident)).toEqual([3, at(18), 'Evening', 6]);
    const answer = await remove(early);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await figures(incident)).toEqual([2, at(12), 'at noon too', 7]);
    await remove(twin);
    expect(await figures(incident)).toEqual([1, at(12), 'noon', 8]);
    await remove(noon);
    expect(await figures(incident)).toEqual([0, null, '', 9]);
    expect(await remove(noon)).toEqual(refused(404, 'not_found'));
    const { changelog } = (await client.get(`${incident.path}/changelog`)).body;
    expect(changelog.map(({ revision }: { revision: number }) => revision)).toEqual([9, 8, 7, 6, 5, 4, 3, 2]);
  });

  test('is correct after concurrent writes', async () => {
    const incident = await declared();
    const writes = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => incident.add({ body: `event ${index}`, at: at(index % 24) })),
    );
    const ids: number[] = writes.map(({ body }) => body.event.id);
    await Promise.all([
      ...ids.slice(0, 15).map(async (id) => client.delete(`/api/v1/timeline/${id}`)),
      ...ids
        .slice(10, 20)
        .map(async (id) =>
          client.patch(`/api/v1/timeline/${id}`, { at: at(23) }, { 'If-Service-Resource-Version': '1' }),
        ),
      ...Array.from({ length: 5 }, async () => incident.add({ body: 'late', at: at(1) })),
    ]);
    const { body } = await client.get(`${incident.timeline}?order=desc&limit=100`);
    const shown = await incident.now();
    expect(shown).toMatchObject({
      event_count: body.events.length,
      last_event_at: body.events[0].started_at,
      last_event_summary: body.events[0].body,
    });
    expect(body).toMatchObject({ matched_count: 30, latest_started_at: body.events[0].started_at });
  });
});
