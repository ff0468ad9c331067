import { describe, expect, test } from '@jest/globals';
import { eventually, refusal, testClock } from '@tocsin/testing';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';

const clock = testClock('2026-11-24T10:00:00.000Z');
const broker = new RecordingBroker();
const service = await serviceForFile({ clock, broker, announcing: 20 });
const client = service.as();
const HALF_AN_HOUR = 30 * 60_000;
const inMinutes = (minutes: number) => new Date(Date.parse(clock.now()) + minutes * 60_000).toISOString();

async function declared(properties: object = {}) {
  const { body } = await client.post('/api/v1/incidents', { title: 'Checkout is down', ...properties });
  const { id } = body.incident as { id: number };
  const path = `/api/v1/incidents/${id}`;
  const now = async () => (await client.get(path)).body.incident;
  return {
    id,
    path,
    now,
    patch: async (changes: object) =>
      client.patch(path, changes, { 'If-Service-Resource-Version': String((await now()).revision) }),
    reminders: () =>
      broker.published.filter(({ type, data }) => type === 'incident.update_due' && data.incident.id === id),
  };
}

const idsOf = async (query: string) =>
  ((await client.get(`/api/v1/incidents?${query}`)).body.incidents as { id: number }[]).map(({ id }) => id);

/** A later reminder is published, so that this look had all that was due. */
async function looked() {
  const last = await declared({ next_update_at: clock.now() });
  await eventually(() => last.reminders().length === 1);
}

describe('the next update', () => {
  test('is promised with an update, and published once when it is due', async () => {
    const later = inMinutes(30);
    const incident = await declared();
    const update = { body: 'We have found the cause', type: 'update', next_update_at: later };
    expect(await client.post(`${incident.path}/timeline`, update)).toMatchObject({
      ...{ status: 201, body: { event: { type: 'update' } } },
    });
    expect(await incident.now()).toMatchObject({ next_update_at: later, revision: 2 });
    const { changelog } = (await client.get(`${incident.path}/changelog`)).body;
    expect(changelog.flatMap(({ changes }: { changes: object[] }) => changes)).toContainEqual({
      field: 'next_update_at',
      from: null,
      to: later,
    });
    await looked();
    expect(incident.reminders()).toEqual([]);

    clock.advance(HALF_AN_HOUR);
    await looked();
    await looked();
    const reminders = incident.reminders();
    expect(reminders).toEqual([
      expect.objectContaining({
        ...{ type: 'incident.update_due', occurred_at: later, request_id: null },
        workspace: { id: 1, slug: 'acme', is_demo: false },
        data: { incident: expect.objectContaining({ id: incident.id, revision: 2, next_update_at: later }) },
      }),
    ]);
    expect((await incident.now()).revision).toBe(2);
  });

  test('that is promised again is published again', async () => {
    const incident = await declared({ next_update_at: inMinutes(-2) });
    await eventually(() => incident.reminders().length === 1);
    expect(await incident.patch({ next_update_at: inMinutes(-1) })).toMatchObject({ status: 200 });
    await eventually(() => incident.reminders().length === 2);
    await incident.patch({ title: 'Still down' });
    await looked();
    expect(incident.reminders()).toHaveLength(2);
  });

  test('of an incident that has ended, is archived or promises none is not due', async () => {
    const properties = { next_update_at: inMinutes(30) };
    const ended = await declared(properties);
    const archived = await declared(properties);
    const none = await declared(properties);
    await client.post(`${ended.path}/resolve`, {});
    await client.post(`${archived.path}/archive`, {});
    await none.patch({ next_update_at: null });
    clock.advance(HALF_AN_HOUR);
    await looked();
    for (const incident of [ended, archived, none]) expect(incident.reminders()).toEqual([]);
    await client.post(`${ended.path}/reopen`, {});
    await eventually(() => ended.reminders().length === 1);
  });

  test('is restricted with its incident', async () => {
    const incident = await declared({ restricted: true, next_update_at: clock.now() });
    await eventually(() => incident.reminders().length === 1);
    expect(incident.reminders()[0]!.restricted).toBe(true);
  });

  test('selects incidents of lists by the time of the database', async () => {
    const past = await declared({ next_update_at: '2026-01-01T00:00:00.000Z' });
    const future = await declared({ next_update_at: '2100-01-01T00:00:00.000Z' });
    const ended = await declared({ next_update_at: '2026-01-01T00:00:00.000Z' });
    await client.post(`${ended.path}/resolve`, {});
    const due = await idsOf('update_due=true&limit=100');
    const others = await idsOf('update_due=false&limit=100');
    expect(due).toContain(past.id);
    expect(due).not.toContain(ended.id);
    expect(others).toEqual(expect.arrayContaining([future.id, ended.id]));
    expect(others).not.toContain(past.id);
  });

  test('must be a time', async () => {
    const incident = await declared();
    const invalid = refusal(400, 'invalid_request', { field: 'next_update_at' });
    expect(await client.post(`${incident.path}/timeline`, { body: 'x', next_update_at: 'soon' })).toMatchObject(
      invalid,
    );
    expect(await incident.patch({ next_update_at: '2026-13-01T00:00:00Z' })).toMatchObject(invalid);
  });
});

describe('links of an event', () => {
  const GRAPH = { url: 'https://graphs.acme.example/d/1', label: 'Errors', summary: 'Twice as many' };

  test('are written, replaced and kept as they are', async () => {
    const { path } = await declared();
    const { body } = await client.post(`${path}/timeline`, { body: 'See', evidence_links: [GRAPH] });
    expect(body.event.evidence_links).toEqual([{ source: 'person', ...GRAPH }]);
    const event = `/api/v1/timeline/${body.event.id}`;
    const links = [{ url: 'https://graphs.acme.example/d/2' }];
    const version = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
    await client.patch(event, { evidence_links: links }, version(1));
    await client.patch(event, { body: 'See this' }, version(2));
    expect((await client.get(event)).body.event.evidence_links).toEqual([{ source: 'person', ...links[0] }]);
    expect((await client.get(`${event}/revisions`)).text).toContain('/d/1');
  });

  test('leave those of the service', async () => {
    const { path } = await declared();
    const { body } = await client.post(`${path}/timeline`, { body: 'See' });
    const ofService = { source: 'grafana', url: 'https://grafana.acme.example/d/1' };
    await service
      .knex('timeline_events')
      .where({ id: body.event.id })
      .update({ evidence_links: JSON.stringify([ofService]) });
    const answer = await client.patch(
      `/api/v1/timeline/${body.event.id}`,
      { evidence_links: [GRAPH] },
      { 'If-Service-Resource-Version': '1' },
    );
    expect(answer.body.event.evidence_links).toEqual([ofService, { source: 'person', ...GRAPH }]);
  });

  test.each([
    ['evidence_links.0.url', [{ url: 'javascript:alert(1)' }]],
    ['evidence_links.0.url', [{ url: '' }]],
    ['evidence_links.0.label', [{ ...GRAPH, label: 'x'.repeat(256) }]],
    ['evidence_links.0.source', [{ ...GRAPH, source: 'grafana' }]],
    ['evidence_links', Array.from({ length: 21 }, () => GRAPH)],
  ])('are refused by %s', async (field, evidence_links) => {
    const { path } = await declared();
    const answer = await client.post(`${path}/timeline`, { body: 'See', evidence_links });
    expect(answer).toMatchObject({ status: 400, body: { field } });
  });
});
