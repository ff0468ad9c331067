import { expect, test } from '@jest/globals';
import { asUser, type Client, eventually, httpClient, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import fc from '@tocsin/testing/fuzz';
import { shortenValue } from '../src/incidents/domain/large-value.ts';
import type { TimelineEventWire } from '../src/timeline/http/wire.ts';
import type { IncidentWire } from '../src/incidents/http/wire.ts';
import {
  action,
  type Action,
  type ActionContext,
  FIELDS,
  INCIDENTS,
  LARGE,
  perform,
  TEAM,
  USERS,
} from './events/actions.ts';
import { publishedEvent, publishedForm, replay, statesOf } from './events/replica.ts';
import { jsonDocument, startImporting } from './source-import.ts';
import { aField } from './snapshots.ts';

/**
 * Several clients change incidents and timelines at random, at the same time and over two processes, each with its relay.
 * A consumer that replays the published events into an empty model must get what the API shows.
 */

const CLIENTS = 4;

const incidents: number[] = [];
const receiver = stopAfterAll(await startReceiver());
receiver.respond = () =>
  jsonDocument(
    // More than one statement adds to the outbox.
    ...Array.from({ length: 110 }, (_, index) => ({
      at: '2026-11-20T10:00:00.000Z',
      body: index % 10 === 0 ? LARGE : `Step ${index}`,
    })),
  );
const service = await startImporting([receiver]);
const other = stopAfterAll(await service.startProcess());
stopAfterAll(service);
const { knex: database } = service;
await service.owners.change(1, (data) => {
  data.fields.push(...FIELDS.map(({ id, ...field }) => aField(id, field)));
  data.users.push(...USERS);
  data.teams.push(TEAM);
});

async function allOf<Row>(client: Client, path: string, name: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const { body } = await client.get(`${path}?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
    rows.push(...body[name]);
    cursor = body.pagination.next_cursor as string | undefined;
  }
  return rows;
}

const byId = (a: object, b: object) => (a as { id: number }).id - (b as { id: number }).id;

test('the events of random changes, replayed, are what the API shows', async () => {
  const actions = fc.sample(action, { numRuns: 280, seed: 20261122 });
  const contexts = Array.from({ length: CLIENTS }, (_, index) => ({
    client: index % 2 === 0 ? service.as() : httpClient(other.url, asUser('incident')),
    database,
    documentUrl: receiver.url('/t'),
    incidents,
  }));
  await eventually(async () => {
    await perform(contexts[0] as ActionContext, { ...(actions[0] as Action), kind: 'create' });
    return incidents.length > 0;
  });
  await Promise.all(
    contexts.map(async (context, own) => {
      for (const [index, each] of actions.entries()) if (index % CLIENTS === own) await perform(context, each);
    }),
  );
  await eventually(async () => (await database('outbox').select('id').limit(1)).length === 0);

  const client = service.as();
  const shown: IncidentWire[] = await Promise.all(
    incidents.map(async (id) => (await client.get(`${INCIDENTS}/${id}`)).body.incident),
  );
  const active = shown.filter(({ archived_at: archivedAt }) => archivedAt === null);
  const listed = await allOf<IncidentWire>(client, INCIDENTS, 'incidents');
  const timelines = await Promise.all(
    incidents.map(async (id) => allOf<TimelineEventWire>(client, `${INCIDENTS}/${id}/timeline`, 'events')),
  );
  const events = timelines.flat().map(publishedEvent).sort(byId);
  // The test is worth something.
  expect([incidents.length > 20, events.length > 300, active.length < shown.length]).toEqual([true, true, true]);
  const types = new Set(service.published.map(({ type }) => type));
  expect([...types].sort()).toEqual([
    'incident.archived',
    'incident.created',
    'incident.restored',
    'incident.updated',
    'timeline_event.created',
    'timeline_event.deleted',
    'timeline_event.updated',
  ]);

  // In the order of publishing, a consumer needs no revisions.
  const inOrder = replay(service.published, () => true);
  expect(statesOf(inOrder.incidents).sort(byId)).toEqual(shown.map(publishedForm).sort(byId));
  expect(statesOf(inOrder.events).sort(byId)).toEqual(events);
  const activeStates = statesOf(inOrder.incidents).filter((state) => (state as IncidentWire).archived_at === null);
  expect(activeStates.sort(byId)).toEqual(listed.map(publishedForm).sort(byId));

  // In any other order, the revisions are enough.
  const [shuffled] = fc.sample(fc.shuffledSubarray(service.published, { minLength: service.published.length }), {
    numRuns: 1,
    seed: 20261122,
  });
  const inAnyOrder = replay(shuffled ?? [], (revision, known) => revision > known);
  expect(statesOf(inAnyOrder.incidents).sort(byId)).toEqual(shown.map(publishedForm).sort(byId));
  expect(statesOf(inAnyOrder.events).sort(byId)).toEqual(events);
});

test('each revision of an incident is published once, and in order', () => {
  const revisions = new Map<number, number[]>();
  for (const { type, data } of service.published) {
    const { id, revision } = data.incident;
    const known = revisions.get(id) ?? [];
    revisions.set(id, known);
    if (type.startsWith('incident.')) known.push(revision);
    // Events of a timeline follow those of their incident's revision.
    else expect(known.at(-1)).toBe(revision);
  }
  for (const known of revisions.values()) expect(known).toEqual(known.map((_, index) => index + 1));
});

test('an event about an incident says what changed, unless only the timeline did', () => {
  const timelineRevisions = new Set(
    service.published
      .filter(({ type }) => type.startsWith('timeline_event.'))
      .map(({ data: { incident } }) => `${incident.id} ${incident.revision}`),
  );
  const before = new Map<number, Record<string, unknown>>();
  for (const { type, data } of service.published) {
    if (!type.startsWith('incident.')) continue;
    const { incident, changes } = data;
    const previous = before.get(incident.id);
    before.set(incident.id, incident);
    if (previous === undefined) continue;
    const fields = (changes as { field: string; from: unknown; to: unknown }[]).map(({ field }) => field);
    if (!timelineRevisions.has(`${incident.id} ${incident.revision}`)) expect(fields).not.toEqual([]);
    expect(fields).toEqual(expect.arrayContaining(differing(previous, incident)));
    for (const { field, from, to } of changes) {
      // Texts that snapshots have in full are digests in changes, if they are large.
      expect(shortenValue(valueOf(previous, field))).toEqual(from);
      expect(shortenValue(valueOf(incident, field))).toEqual(to);
    }
  }
});

/** What follows from other properties. */
const DERIVED = new Set(['revision', 'status_changed_at', 'event_count', 'last_event_at', 'last_event_summary']);

function differing(previous: Record<string, unknown>, next: Record<string, unknown>): string[] {
  const fields = Object.keys(next).flatMap((name) =>
    name === 'custom_fields' ? FIELDS.map(({ slug }) => `custom_fields.${slug}`) : [name],
  );
  return fields.filter(
    (field) => !DERIVED.has(field) && JSON.stringify(valueOf(previous, field)) !== JSON.stringify(valueOf(next, field)),
  );
}

function valueOf(incident: Record<string, unknown>, field: string): unknown {
  const [name, slug] = field.split('.') as [string, string?];
  if (slug === undefined) return incident[name];
  const fields = incident[name] as Record<string, unknown>;
  return Object.hasOwn(fields, slug) ? fields[slug] : null;
}
