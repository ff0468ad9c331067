import { describe, expect, test } from '@jest/globals';
import { type Client, eventually } from '@tocsin/testing';
import { configure } from '../configure.ts';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });
const { knex: database } = service;
const ana = service.as();
const KEY = { name: 'runbooks', prefix: 'tcs_runb' };
const ben = service.as({ user_id: 43, key: KEY });
const BEN = { actor: '43', api_key: KEY };
const groups = (...ids: number[]) => ({ timeline_groups: ids.map((id) => ({ id, name: `Group ${id}` })) });
await configure(database, 1, groups(3, 4));

const LARGE = 'Rolled back release 412. '.repeat(400);
const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const refused = (status: number, code: string) =>
  expect.objectContaining({ status, body: expect.objectContaining({ code }) });
const conflict = refused(409, 'invalid_resource_state');

interface Entry {
  revision: number;
  changes: { field: string; from: unknown; to: unknown }[];
}

async function added(event: object = {}, as: Client = ana) {
  const { incident } = (await as.post('/api/v1/incidents', { title: 'Checkout is down' })).body;
  const path = `/api/v1/incidents/${incident.id}`;
  const { event: created } = (await as.post(`${path}/timeline`, { body: 'Deployed', ...event })).body;
  return { path, id: created.id as number, event: `/api/v1/timeline/${created.id}`, created };
}
const now = async (path: string) => (await ana.get(path)).body.incident;
const changelogOf = async (path: string) => (await ana.get(`${path}/changelog`)).body.changelog as Entry[];
const deletedOf = async (path: string, as = ana) => (await as.get(`${path}/timeline/deleted`)).body.former;

describe('a timeline event that somebody else changes and deletes', () => {
  test('keeps its author, says who changed it and what it was, and every revision of the incident has its entry', async () => {
    const { path, id, event, created } = await added({ body: LARGE, title: 'Rollback' });
    expect(created).toMatchObject({ edited_by: null, edited_at: null, edited_api_key: null });
    const { event: edited } = (await ben.patch(event, { body: 'Nothing happened', is_key: true }, at(1))).body;
    expect(edited).toMatchObject({ created_by: '42', edited_by: '43', edited_api_key: KEY, revision: 2 });
    await ana.patch(event, { title: 'Quiet' }, at(2));
    expect((await ben.delete(event)).status).toBe(204);

    const place = `timeline_events.${id}`;
    expect(await changelogOf(path)).toMatchObject([
      { revision: 5, ...BEN, changes: [{ field: place, from: 'Quiet', to: null }] },
      { revision: 4, actor: '42', changes: [{ field: `${place}.title`, from: 'Rollback', to: 'Quiet' }] },
      {
        ...{ revision: 3, ...BEN, changed_at: edited.edited_at },
        changes: [
          { field: `${place}.is_key`, from: false, to: true },
          { field: `${place}.body`, from: { bytes: LARGE.length + 2 }, to: 'Nothing happened' },
        ],
      },
      { revision: 2, actor: '42', changes: [{ field: place, from: null, to: 'Rollback' }] },
    ]);

    // What it was can be read when it is there again.
    await ana.post(`${event}/restore`);
    const { former: revisions, pagination } = (await ana.get(`${event}/revisions`)).body;
    expect(revisions).toMatchObject([
      { id, revision: 2, title: 'Rollback', body: 'Nothing happened', edited_by: '43', edited_api_key: KEY },
      { id, revision: 1, title: 'Rollback', body: LARGE, created_by: '42', edited_by: null, is_key: false },
    ]);
    expect(pagination.has_more).toBe(false);
  });

  test('is restored as it was, as a write of its own', async () => {
    const { path, id, event } = await added({ body: LARGE, tags: ['deploy'], group_id: 3 });
    const file = { content_type: 'image/png', size_bytes: 5, created_at: '2026-11-20T12:00:00.000Z', created_by: '42' };
    const { workspace_id } = await database('timeline_events').where({ id }).first('workspace_id');
    await database('timeline_attachments').insert({ ...file, workspace_id, timeline_event_id: id, filename: 'a.png' });
    const { event: before } = (await ana.get(event)).body;
    await ben.delete(event);
    const [deleted, ...others] = await deletedOf(path);
    const { attachments, comment_count: _, ...rest } = before;
    const [{ id: fileId, filename, content_type, size_bytes }] = attachments;
    expect(others).toEqual([]);
    expect(deleted).toEqual({
      ...rest,
      attachments: [{ id: fileId, filename, content_type, size_bytes }],
      ...{ deleted_by: '43', deleted_api_key: KEY, deleted_at: expect.any(String) },
    });
    const { status, body, headers } = await ben.post(`${event}/restore`);
    expect([status, headers.get('Service-Resource-Version')]).toEqual([200, '2']);
    expect(body.event).toEqual({ ...before, revision: 2 });
    expect((await ana.get(event)).body).toEqual(body);
    expect(await deletedOf(path)).toEqual([]);
    expect(await now(path)).toMatchObject({ revision: 4, event_count: 1, last_event_at: before.started_at });
    expect((await changelogOf(path))[0]).toMatchObject({
      ...{ revision: 4, ...BEN },
      changes: [{ field: `timeline_events.${id}.deleted_at`, from: deleted.deleted_at, to: null }],
    });
    await ana.patch(event, { body: 'x' }, at(2));
    await ana.delete(event);
    expect((await ana.post(`${event}/restore`)).body.event).toMatchObject({ body: 'x', revision: 4 });
  });

  test('is told in events that name who did it', async () => {
    const { id, event } = await added();
    await ben.patch(event, { title: 'x' }, at(1));
    await ben.delete(event);
    await ben.post(`${event}/restore`);
    const published = () => broker.published.filter(({ data }) => data.timeline_event?.id === id);
    await eventually(() => published().length === 4);
    const told = published().map(({ type, data }) => [type, data.timeline_event.revision, data.actor, data.api_key]);
    expect(told).toEqual([
      ['timeline_event.created', 1, '42', null],
      ['timeline_event.updated', 2, '43', KEY],
      ['timeline_event.deleted', 2, '43', KEY],
      ['timeline_event.restored', 3, '43', KEY],
    ]);
    const incidentId = published()[0]?.data.incident.id;
    const whole = broker.published.filter(
      ({ type, data }) => type.startsWith('incident.') && data.incident?.id === incidentId,
    );
    expect(whole.map(({ data }) => [data.incident.revision, data.actor, data.changes])).toEqual([
      [1, '42', undefined],
      [2, '42', []],
      [3, '43', []],
      [4, '43', []],
      [5, '43', []],
    ]);
  });

  test('leaves everything that counts or finds events', async () => {
    const { path, event } = await added({ body: 'Secret plan', tags: ['x'], group_id: 4 });
    await ana.delete(event);
    expect(await now(path)).toMatchObject({ event_count: 0, last_event_at: null, last_event_summary: '' });
    const { events, matched_count, filter_counts } = (await ana.get(`${path}/timeline?q=secret`)).body;
    expect([events, matched_count, filter_counts.all_events, filter_counts.tag_counts]).toEqual([[], 0, 0, {}]);
    const document = (await ana.get(`${path}/postmortem.md`)).text;
    expect(document).not.toContain('Secret plan');
    for (const read of [event, `${event}/revisions`]) expect(await ana.get(read)).toEqual(refused(404, 'not_found'));
    // Its group may go, and then it comes back without one.
    await configure(database, 1, groups(3));
    expect((await ana.post(`${event}/restore`)).body.event).toMatchObject({ body: 'Secret plan', group_id: null });
  });
});

describe('deleted events', () => {
  test('are shown and restored only to those who may change them', async () => {
    const { path, event } = await added();
    await ana.delete(event);
    const reader = service.as({ scopes: ['incidents:read'] });
    const seatless = service.as({ seat: 'none' });
    const stranger = service.as({ workspace: { id: 2, slug: 'other' } });
    expect(await reader.get(`${path}/timeline/deleted`)).toEqual(refused(403, 'missing_scope'));
    expect((await seatless.get(`${path}/timeline/deleted`)).status).toBe(403);
    expect(await stranger.get(`${path}/timeline/deleted`)).toEqual(refused(404, 'not_found'));
    expect(await stranger.post(`${event}/restore`)).toEqual(refused(404, 'not_found'));
    expect((await reader.post(`${event}/restore`)).status).toBe(403);
    expect(await deletedOf(path)).toHaveLength(1);
  });

  test('are not restored twice, into an archived incident, or into a full timeline', async () => {
    const { path, id, event } = await added();
    expect(await ana.post(`${event}/restore`)).toEqual(conflict);
    expect(await ana.post(`/api/v1/timeline/${id + 100_000}/restore`)).toEqual(refused(404, 'not_found'));
    await ana.delete(event);
    await ana.post(`${path}/archive`);
    expect(await ana.post(`${event}/restore`)).toEqual(conflict);
    expect(await deletedOf(path)).toHaveLength(1);
    await ana.post(`${path}/restore`);
    const full = service.as({ workspace: { quotas: { timeline_events: 0 } } });
    expect(await full.post(`${event}/restore`)).toEqual(conflict);
    const answers = await Promise.all([1, 2, 3].map(async () => ana.post(`${event}/restore`)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect(await now(path)).toMatchObject({ event_count: 1 });
  });

  test('and former revisions come in pages, also of large texts', async () => {
    const { path, event } = await added({ body: '0'.repeat(20_000) });
    for (let revision = 1; revision <= 5; revision += 1)
      await ana.patch(event, { body: String(revision).repeat(20_000) }, at(revision));
    const pages = async (list: string) => {
      const rows: { body: string }[] = [];
      for (let cursor = ''; ;) {
        const { body } = await ana.get(`${list}?limit=2${cursor}`);
        rows.push(...body.former);
        if (!body.pagination.has_more) return rows.map(({ body: [first, ...rest] }) => `${first}${rest.length}`);
        cursor = `&cursor=${body.pagination.next_cursor}`;
      }
    };
    const all = ['4', '3', '2', '1', '0'].map((first) => `${first}19999`);
    expect(await pages(`${event}/revisions`)).toEqual(all);
    for (const body of all) {
      const { event: other } = (await ana.post(`${path}/timeline`, { body: (body[0] as string).repeat(20_000) })).body;
      await ana.delete(`/api/v1/timeline/${other.id}`);
    }
    expect(await pages(`${path}/timeline/deleted`)).toEqual(all.toReversed());
  });
});

test('an earlier revision of an incident is exact, however much of its timeline has changed since', async () => {
  const { path, event } = await added({ body: LARGE });
  const past = await ana.get(`${path}?at_revision=2`);
  const { revision } = await now(path);
  await ana.patch(path, { title: 'Renamed' }, at(revision));
  await ana.patch(event, { body: `${LARGE}!` }, at(1));
  await ana.delete(event);
  // More than what can be undone, if the changes of events were.
  await database.raw(
    `insert into changelog (workspace_id, incident_id, revision, actor, changed_at, changes, is_of_parts)
     select workspace_id, id, 4, '42', now(), jsonb_build_array(jsonb_build_object('field', 'timeline_events.1.body', 'from', repeat('x', 4000), 'to', repeat('y', 4000))), true
     from incidents, generate_series(1, 1100) where id = ?`,
    [path.split('/').at(-1) ?? ''],
  );
  const { status, body } = await ana.get(`${path}?at_revision=2`);
  expect(status).toBe(200);
  expect(body.incident.title).toBe('Checkout is down');
  expect(body.not_recorded).toEqual(past.body.not_recorded);
});
