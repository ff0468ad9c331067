import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Envelope } from '@tocsin/schemas';
import { check, type Evidence } from '../../history/checker.ts';
import type { Operation, Seen } from '../../history/history.ts';
import { type Json, versionOf } from '../../history/resources.ts';

const SLUG = 'acme';
const NAME = `${SLUG} incident 1`;
const BATCH = 'batch-0';

const incident = (revision: number, title: string): Json => ({
  ...{ id: 1, revision, title, service: BATCH, status: 'open', event_count: 0, archived_at: null },
});

/** The third and the fourth operation begin after the second has ended. */
const operation = (place: number, more: Partial<Operation>): Operation => ({
  ...{ id: `request-${place}`, workspace: SLUG, client: 1, method: 'GET', path: '/api/v1/incidents/1' },
  ...{ start: 2 * place, end: 2 * place + 1, status: 200, outcome: 'done', isCut: false, isReplay: false, text: '' },
  ...{ versions: [{ name: NAME, revision: 2 }], ...more },
});

const PICTURE = { width: 3, height: 2, filename: 'graph' };

const upload = (place: number, key: string): Operation =>
  operation(place, {
    ...{ method: 'POST', path: '/api/v1/incidents/1/pictures?filename=graph', key, body: PICTURE, versions: [] },
    text: JSON.stringify({ picture: { id: 7, ...PICTURE } }),
  });

const event = (request: string, type: string, revision: number, title: string): Envelope => ({
  ...{ id: `event-${revision}`, type, schema_version: 1, occurred_at: '2026-11-20T09:30:00.000Z', request_id: request },
  workspace: { id: 1, slug: SLUG, is_demo: false },
  data: { incident: incident(revision, title), changes: revision === 1 ? [] : [{ field: 'title' }] },
});

/** What a destination sends of an event. */
function message({ id, ...event }: Envelope) {
  const body = JSON.stringify({ id, ...event });
  const signature = createHmac('sha256', 'secret').update(`${id}.7.${body}`).digest('base64');
  return { body, headers: { 'webhook-id': id, 'webhook-timestamp': '7', 'webhook-signature': `v1,${signature}` } };
}

interface Run extends Evidence {
  operations: Operation[];
  polled: Envelope[];
  streamed: Envelope[];
}

/** An incident is created, changed, read and listed. */
function faultlessRun(): Run {
  const operations = [
    operation(1, {
      ...{ method: 'POST', path: '/api/v1/incidents', key: 'key', body: { title: 'Down' }, text: 'the incident' },
      versions: [{ name: NAME, revision: 1 }],
    }),
    operation(2, { method: 'PATCH', expected: 1, body: { title: 'Up' } }),
    operation(3, {}),
    operation(4, { path: '/api/v1/incidents' }),
    operation(5, {
      outcome: 'refused',
      status: 503,
      code: 'service_unavailable',
      method: 'PATCH',
      expected: 2,
      versions: [],
    }),
    upload(6, 'picture'),
  ];
  const polled = [event('request-1', 'incident.created', 1, 'Down'), event('request-2', 'incident.updated', 2, 'Up')];
  const seenBy = (revision: number, title: string): [number, Seen] => [
    revision,
    { text: versionOf(SLUG, 'incident', incident(revision, title)).text, by: operations[revision - 1] as Operation },
  ];
  const body = JSON.stringify({ resource: { id: 1 } });
  const signature = createHmac('sha256', 'secret').update(`event-1.7.${body}`).digest('base64');
  const headers = { 'webhook-id': 'event-1', 'webhook-timestamp': '7', 'webhook-signature': `v1,${signature}` };
  return {
    ...{ slug: SLUG, operations, polled, streamed: [...polled] },
    lists: [{ operations: operations.slice(3, 4), filter: { batch: BATCH, isArchived: false }, ids: [1] }],
    seen: new Map([[NAME, new Map([seenBy(1, 'Down'), seenBy(2, 'Up')])]]),
    final: {
      versions: new Map([[NAME, versionOf(SLUG, 'incident', incident(2, 'Up'))]]),
      changelogs: new Map([[NAME, [[2, [{ field: 'title' }]]]]]),
      counts: [{ path: '/api/v1/incidents', counted: 1, rows: 1 }],
      pictures: new Map([[7, { width: 3, height: 2 }]]),
    },
    webhook: { secret: 'secret', requests: [{ headers, body }] },
    destination: { secret: 'secret', types: ['incident.created', 'incident.updated'], requests: polled.map(message) },
  };
}

const found = (run: Evidence) => [...new Set(check(run).map(({ what }) => what))];

test('a run without a fault has no violation', () => {
  expect(check(faultlessRun())).toEqual([]);
});

const replace = (run: Run, place: number, more: Partial<Operation>): Run => ({
  ...run,
  operations: run.operations.map((each, index) => (index === place - 1 ? { ...each, ...more } : each)),
});
/** The destination gets these of the two events. */
const received = (run: Run, places: readonly number[], more: Partial<Envelope> = {}): Evidence => ({
  ...run,
  destination: {
    ...{ secret: 'secret', types: [], ...run.destination },
    requests: places.map((place) => message({ ...(run.polled[place] as Envelope), ...more })),
  },
});
const feed = (run: Run, polled: readonly Envelope[]): Run => ({ ...run, polled: [...polled], streamed: [...polled] });
const list = (run: Run, ids: readonly number[], more: object = {}): Run => ({
  ...run,
  lists: run.lists.map((each) => ({ ...each, ids, filter: { ...each.filter, ...more } })),
});
const bulk = (run: Run, place: number, items: object[]): Run =>
  replace(run, place, {
    ...{ method: 'POST', path: '/api/v1/incidents/bulk', key: 'bulk', body: { items }, text: '{"results":[]}' },
  });
const pictured = (run: Run, picture?: { width: number; height: number }): Evidence => ({
  ...run,
  final: { ...run.final, pictures: new Map([[7, picture]]) },
});
/** The event of the picture is deleted. */
const withoutEvent = (run: Run): Run => {
  const name = `${SLUG} timeline_event 3`;
  const deletion = {
    ...event('request-2', 'timeline_event.deleted', 1, 'Up'),
    data: { timeline_event: { id: 3, revision: 1 }, incident: { id: 1, revision: 2 } },
  };
  return {
    ...feed(run, [...run.polled, deletion]),
    operations: [...run.operations, operation(7, { body: { attachments: [7] }, versions: [{ name, revision: 1 }] })],
  };
};
const foreign = (each: Envelope): Envelope => ({ ...each, request_id: 'nobody' });

test('a destination may get any event again', () => {
  expect(found(received(faultlessRun(), [0, 0, 1, 0]))).toEqual([]);
});

test('a picture is away with its event', () => {
  expect(found(pictured(withoutEvent(faultlessRun())))).not.toContain('a lost picture');
});

test.each<[string, (run: Run) => Evidence]>([
  ['an event that a destination lacks', (run) => received(run, [1])],
  ['an event that a destination lacks', (run) => received(run, [])],
  ['messages in another order', (run) => received(run, [1, 0])],
  ['a message that is not its event', (run) => received(run, [0, 1], { type: 'incident.updated' })],
  ['a revision without an event', (run) => feed(run, run.polled.slice(0, 1))],
  ['a change without an event', (run) => feed(run, run.polled.slice(0, 1))],
  ['an event twice', (run) => feed(run, [...run.polled, ...run.polled.slice(1)])],
  ['revisions with a gap or in another order', (run) => feed(run, run.polled.toReversed())],
  ['readers that saw different feeds', (run) => ({ ...run, streamed: run.polled.slice(1) })],
  ['an event that no request caused', (run) => feed(run, run.polled.map(foreign))],
  ['an event of another workspace', (run) => replace(run, 2, { workspace: 'other' })],
  ['a change by a refused request', (run) => replace(run, 2, { outcome: 'refused', code: 'service_unavailable' })],
  [
    'an event with another content',
    (run) => feed(run, [...run.polled.slice(0, 1), event('request-2', 'incident.updated', 2, 'Else')]),
  ],
  ['a read of an old revision', (run) => replace(run, 3, { versions: [{ name: NAME, revision: 1 }] })],
  ['a revision before its request', (run) => replace(run, 3, { start: 2, end: 3 })],
  ['two creates with one key', (run) => replace(run, 2, { method: 'POST', path: '/api/v1/incidents', key: 'key' })],
  ['two responses to one key', (run) => replace(run, 4, { method: 'POST', key: 'key', text: 'another one' })],
  ['a lost update', (run) => replace(run, 2, { expected: 2 })],
  ['a lost update', (run) => bulk(run, 2, [{ id: 1, revision: 2 }])],
  ['two effects of one item', (run) => bulk(bulk(run, 1, [{ id: 1 }]), 2, [{ id: 1 }])],
  ['a success with another content', (run) => replace(run, 2, { body: { title: 'Else' } })],
  ['a success without its effect', (run) => replace(run, 3, { method: 'POST', path: '/api/v1/incidents/1/resolve' })],
  ['a false 404', (run) => replace(run, 5, { code: 'not_found' })],
  [
    'a false 412',
    (run) => replace(run, 5, { code: 'precondition_failed', text: '{"details":{"current_revision":2}}' }),
  ],
  ['an unexpected refusal', (run) => replace(run, 5, { code: 'internal', status: 500 })],
  ['a row twice in a list', (run) => list(run, [1, 1])],
  ['a row that a list lacks', (run) => list(run, [])],
  ['a row that does not match', (run) => list(run, [1], { status: 'closed' })],
  ['a row of another list', (run) => list(run, [1, 2])],
  ['a state that the feed does not say', (run) => ({ ...run, final: { ...run.final, versions: new Map() } })],
  ['a changelog that differs from the events', (run) => ({ ...run, final: { ...run.final, changelogs: new Map() } })],
  [
    'a changelog without a change of a part',
    ({ final, ...run }) => {
      const [own] = final.changelogs.get(NAME) ?? [];
      const more = [own ?? [2, []], [2, [{ field: 'timeline_events.7' }]]] as const;
      return { ...run, final: { ...final, changelogs: new Map([[NAME, more]]) } };
    },
  ],
  ['a wrong count', (run) => ({ ...run, final: { ...run.final, counts: [{ path: '/', counted: 2, rows: 1 }] } })],
  ['a success with another content', (run) => replace(run, 6, { body: { ...PICTURE, filename: 'photo' } })],
  ['one picture of two uploads', (run) => ({ ...run, operations: [...run.operations, upload(7, 'another')] })],
  ['a lost picture', (run) => pictured(run)],
  ['a picture with another content', (run) => pictured(run, { width: 2, height: 3 })],
  ['a picture of a deleted event', (run) => withoutEvent(run)],
  ['a wrong signature', (run) => ({ ...run, webhook: { secret: 'another', requests: run.webhook?.requests ?? [] } })],
  ['an event that was not delivered', (run) => ({ ...run, webhook: { secret: 'secret', requests: [] } })],
])('%s is found', (what, plant) => {
  expect(found(plant(faultlessRun()))).toContain(what);
});
