import { describe, expect, test } from '@jest/globals';
import { type Answer, eventually } from '@tocsin/testing';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });
const client = service.as();

/** Creates an incident, and returns its requests. */
async function declared(properties: object = {}) {
  const { body } = await client.post('/api/v1/incidents', { title: 'Checkout is down', ...properties });
  const id: number = body.incident.id;
  const path = `/api/v1/incidents/${id}`;
  return {
    id,
    path,
    does: async (operation: string, body?: unknown) => client.post(`${path}/${operation}`, body),
    now: async () => (await client.get(path)).body.incident,
    changelog: async () => (await client.get(`${path}/changelog`)).body.changelog,
    timeline: async () => (await client.get(`${path}/timeline`)).body.events,
  };
}

/** The published event of a revision of an incident. */
const eventsOf = (id: number) => broker.published.filter(({ data }) => data.incident.id === id);
const publishedEvent = async (id: number, revision: number) =>
  eventually(() => eventsOf(id).find(({ data }) => data.incident.revision === revision));

const refused = (status: number, code: string, field?: string) =>
  expect.objectContaining({ status, body: expect.objectContaining(field === undefined ? { code } : { code, field }) });

describe('resolving', () => {
  test('sets status and issue type and adds the note in one revision', async () => {
    const incident = await declared();
    const answer = await incident.does('resolve', { resolution_note: ' Rolled back. ', expected_revision: 1 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Service-Resource-Version')).toBe('2');
    expect(answer.body.incident).toMatchObject({
      status: 'resolved',
      issue_type: 'postmortem',
      revision: 2,
      event_count: 1,
      last_event_summary: ' Rolled back. ',
    });
    const { timeline_event: event } = answer.body;
    expect(event).toMatchObject({
      type: 'resolution',
      source: 'api',
      title: '',
      body: ' Rolled back. ',
      incident_id: incident.id,
      created_by: '42',
      revision: 1,
    });
    expect(answer.body.incident.last_event_at).toBe(event.started_at);
    expect(await incident.timeline()).toEqual([event]);
    expect({ ...(await incident.now()), duration_seconds: 0 }).toEqual({
      ...answer.body.incident,
      duration_seconds: 0,
    });
    const [ofTimeline, ...changelog] = await incident.changelog();
    expect(ofTimeline).toMatchObject({
      ...{ revision: 2, actor: '42' },
      changes: [{ field: `timeline_events.${event.id}`, from: null, to: ' Rolled back. ' }],
    });
    expect(changelog).toEqual([
      {
        id: expect.any(Number),
        incident_id: incident.id,
        revision: 2,
        actor: '42',
        api_key: null,
        changed_at: answer.body.incident.status_changed_at,
        changes: [
          { field: 'status', from: 'open', to: 'resolved' },
          { field: 'issue_type', from: 'incident', to: 'postmortem' },
        ],
        imported: false,
      },
    ]);
    expect(await publishedEvent(incident.id, 2)).toMatchObject({
      type: 'incident.updated',
      workspace: { id: 1 },
      data: { incident: { status: 'resolved' }, changes: [{ field: 'status' }, { field: 'issue_type' }] },
    });
    const note = await eventually(() => eventsOf(incident.id).find(({ type }) => type === 'timeline_event.created'));
    expect(note.data).toMatchObject({
      incident: { revision: 2 },
      timeline_event: { type: 'resolution', body: ' Rolled back. ', title: '' },
    });
  });

  test('needs no body and adds no event for a blank note', async () => {
    const incident = await declared();
    const answer = await incident.does('resolve');
    expect(answer.body).toEqual({ incident: expect.objectContaining({ status: 'resolved', event_count: 0 }) });
    const blank = await declared();
    expect((await blank.does('resolve', { resolution_note: ' \n ' })).body.timeline_event).toBeUndefined();
    expect(await blank.timeline()).toEqual([]);
  });

  test('again changes only the issue type and adds a note', async () => {
    const incident = await declared();
    await incident.does('resolve');
    const again = await incident.does('resolve');
    expect(again).toMatchObject({ status: 200, body: { incident: { revision: 2 } } });
    expect(await incident.changelog()).toHaveLength(1);
    const noted = await incident.does('resolve', { resolution_note: 'Cause found' });
    expect(noted.body).toMatchObject({
      incident: { revision: 3, event_count: 1 },
      timeline_event: { type: 'resolution' },
    });
    const revisions = (await incident.changelog()).map(({ revision }: { revision: number }) => revision);
    expect(revisions).toEqual([3, 2]);
    const headers = { 'If-Service-Resource-Version': '3' };
    await client.patch(incident.path, { issue_type: 'incident' }, headers);
    const typed = await incident.does('resolve');
    expect(typed.body.incident).toMatchObject({ revision: 5, issue_type: 'postmortem', status: 'resolved' });
  });
});

describe('closing and reopening', () => {
  test('closing keeps the issue type, and closing again changes nothing', async () => {
    const incident = await declared({ issue_type: 'ticket' });
    const closed = await incident.does('close', { close_note: 'Not ours' });
    expect(closed.body).toMatchObject({
      incident: { status: 'closed', issue_type: 'ticket', revision: 2, event_count: 1 },
      timeline_event: { type: 'closure', body: 'Not ours' },
    });
    expect((await incident.does('close')).body.incident.revision).toBe(2);
  });

  test('reopening sets the status active, only from resolved or closed', async () => {
    const incident = await declared();
    expect(await incident.does('reopen', { reopen_note: 'x' })).toEqual(refused(409, 'invalid_resource_state'));
    expect(await incident.timeline()).toEqual([]);
    await incident.does('resolve');
    const reopened = await incident.does('reopen', { reopen_note: 'It is back' });
    expect(reopened.body).toMatchObject({
      incident: { status: 'active', issue_type: 'incident', revision: 3 },
      timeline_event: { type: 'reopening', body: 'It is back' },
    });
    expect(await incident.does('reopen')).toEqual(refused(409, 'invalid_resource_state'));
    await incident.does('resolve');
    await incident.does('close');
    expect((await incident.does('reopen')).body.incident).toMatchObject({ status: 'active', issue_type: 'postmortem' });
  });

  test('the duration ends with the incident and continues after reopening', async () => {
    const incident = await declared({ impact_started_at: '2026-01-01T00:00:00Z' });
    const { body } = await incident.does('close');
    const end = Date.parse(body.incident.status_changed_at);
    const seconds = Math.floor((end - Date.parse('2026-01-01T00:00:00Z')) / 1_000);
    expect(body.incident).toMatchObject({ duration_seconds: seconds, duration_anchor: 'impact_started_at' });
  });
});

describe('archiving and restoring', () => {
  test('an incident keeps its properties', async () => {
    const incident = await declared();
    const archived = await incident.does('archive', { expected_revision: 1 });
    expect(archived).toMatchObject({
      status: 200,
      body: { incident: { revision: 2, archived_by: 42, status: 'open' } },
    });
    expect(archived.body.incident.archived_at).not.toBeNull();
    expect(archived.headers.get('Service-Resource-Version')).toBe('2');
    expect(await publishedEvent(incident.id, 2)).toMatchObject({
      type: 'incident.archived',
      data: {
        incident: { revision: 2, archived_by: 42 },
        changes: [{ field: 'archived_at' }, { field: 'archived_by' }],
      },
    });
    expect(await incident.does('archive')).toEqual(refused(409, 'invalid_resource_state'));

    const restored = await incident.does('restore');
    expect(restored.body.incident).toMatchObject({ revision: 3, archived_at: null, archived_by: null });
    expect(await publishedEvent(incident.id, 3)).toMatchObject({
      type: 'incident.restored',
      data: {
        changes: [
          { field: 'archived_at', to: null },
          { field: 'archived_by', from: 42, to: null },
        ],
      },
    });
    expect(await incident.does('restore')).toEqual(refused(409, 'invalid_resource_state'));
    const fields = (await incident.changelog()).map(({ changes }: { changes: { field: string }[] }) =>
      changes.map(({ field }) => field),
    );
    expect(fields).toEqual([
      ['archived_at', 'archived_by'],
      ['archived_at', 'archived_by'],
    ]);
    expect(eventsOf(incident.id).map(({ type }) => type)).toEqual([
      'incident.created',
      'incident.archived',
      'incident.restored',
    ]);
  });

  test('makes the incident read-only, whatever the revision', async () => {
    const incident = await declared();
    const { body } = await client.post(`${incident.path}/timeline`, { body: 'x' });
    await incident.does('archive');
    const at = { 'If-Service-Resource-Version': '1' };
    const event = `/api/v1/timeline/${body.event.id}`;
    for (const answer of [
      await incident.does('resolve', { expected_revision: 1 }),
      await incident.does('close'),
      await incident.does('reopen'),
      await incident.does('archive', { expected_revision: 1 }),
      await client.patch(incident.path, { title: 'y' }, at),
      await client.post(`${incident.path}/timeline`, { body: 'y' }),
      await client.patch(event, { title: 'y' }, at),
      await client.delete(event),
    ]) {
      expect(answer).toEqual(refused(409, 'invalid_resource_state'));
    }
    expect((await incident.now()).revision).toBe(3);
    expect(await incident.timeline()).toHaveLength(1);
    expect((await client.get(event)).status).toBe(200);
  });
});

describe('concurrent requests', () => {
  test('of several operations with one expected revision, one succeeds', async () => {
    const incident = await declared();
    const answers: Answer[] = await Promise.all(
      ['resolve', 'close', 'archive', 'resolve', 'close'].map(async (operation) =>
        incident.does(operation, { expected_revision: 1 }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await incident.now()).revision).toBe(2);
  });
});
