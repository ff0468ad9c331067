import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import { isBlank } from '@tocsin/schemas';
import type { Client } from '@tocsin/testing';
import { toLargeValue } from '../../../../services/incident/src/incidents/domain/large-value.ts';
import { isPaged, OPERATIONS, readList, type Write } from './operations.ts';

type Shown = Record<string, unknown> & { id: number };

/** Properties that the contract trims, in lists each element. */
const TRIMMED = new Set(['name', 'title', 'external_id', 'type', 'regions', 'tags', 'label']);
const MOMENT = /^\d{4}-\d\d-\d\d[tT]/;

/** An absent filter of a destination selects all. */
const NO_FILTERS = {
  ...{ event_types: [], timeline_types: [], severities: [], statuses: [], services: [], team_ids: [], roles: [] },
};

/** What is stored of a value that is sent. */
function storedForm(name: string, value: unknown): unknown {
  if (typeof value === 'string' && name.endsWith('_at') && MOMENT.test(value)) return instantOf(value);
  if (typeof value === 'string' && name === 'service') return value.normalize('NFC');
  if (name === 'filters') return { ...NO_FILTERS, ...(value as object) };
  if (name === 'auto_filters') return value && { severities: [], services: [], team_ids: [], ...value };
  if (name === 'roles')
    return Object.fromEntries(Object.entries(value as object).filter(([, { length }]) => length > 0));
  if (typeof value === 'string') return TRIMMED.has(name) ? value.trim() : value;
  if (!Array.isArray(value) || !TRIMMED.has(name)) return value;
  const texts = value.map((text) => String(text).trim()).filter((text) => !isBlank(text));
  const keys = texts.map((text) => text.toLowerCase());
  return texts.filter((_, index) => keys.indexOf(keys[index] ?? '') === index);
}

/** Cut off after the milliseconds. */
const instantOf = (text: string) => new Date(text.toUpperCase().replace(/(\.\d{3})\d+/, '$1')).toISOString();

const resourceIn = (body: unknown): Shown => Object.values(body as Record<string, Shown>)[0] as Shown;

/** The IDs of the pictures of an event, as requests have them. Its other files are not set by requests. */
export const picturesIn = ({ attachments }: Shown): number[] =>
  (attachments as { id: number; thumbnail_url: string | null }[])
    .filter(({ thumbnail_url: thumbnail }) => thumbnail !== null)
    .map(({ id }) => id);

/** Checks that each write shows what it was sent, byte for byte. @param count is called with the number of values */
export const showing =
  (write: Write, client: Client, count: (values: number) => void): Write =>
  async (operation, ids = [], body = {}, query?) => {
    const answer: unknown = await write(operation, ids, body, query);
    if (body instanceof Uint8Array) return answer;
    const resource = /^(?:create|update)/.test(operation) ? resourceIn(answer) : {};
    // Null may stand for a default, and of the URL of a webhook only a part is shown.
    const given = Object.keys(body).filter((name) => (body as Shown)[name] !== null && name !== 'url');
    const names = given.filter((name) => Object.hasOwn(resource, name));
    const expected = names.map((name) => [name, storedForm(name, (body as Shown)[name])]);
    const shown = names.map((name) => [
      name,
      name === 'attachments' ? picturesIn(resource as Shown) : (resource as Shown)[name],
    ]);
    expect({ operation, body, shown }).toEqual({ operation, body, shown: expected });
    const { custom_field_values, values = custom_field_values } = body as Record<string, { field_id: number }[]>;
    if (values !== undefined) {
      const id = operation === 'createIncident' ? (resource as Shown).id : ids[0];
      const stored = (await client.get(`/api/v1/incidents/${id}/custom-fields`)).body.values as Shown[];
      const stripped = stored.map(({ field_id, value }) => ({ field_id, value }));
      expect(stripped).toEqual(expect.arrayContaining(values));
    }
    const [note] = Object.entries(body).flatMap(([name, value]) => (name.endsWith('_note') ? [value as string] : []));
    const event = (answer as { timeline_event?: { body: string } | null } | undefined)?.timeline_event;
    if (note !== undefined && event) expect(event.body).toBe(note);
    count(names.length + (values?.length ?? 0));
    return answer;
  };

/** Without what goes on, and what only some places show. */
const comparable = ({ duration_seconds: _, ...shown }: Shown) => shown;

const isDigest = (value: unknown) => String((value as { digest?: unknown } | null)?.digest).startsWith('sha256:');
/** The value as it is shown elsewhere, perhaps as its digest. */
const like = (shown: unknown, value: unknown) => (isDigest(shown) && !isDigest(value) ? toLargeValue(value) : value);

/** Relations and parts of an incident are in its changes, and elsewhere not among its properties. */
const isProperty = ({ field }: { field: string }) => !/^(?:relations|timeline_events|follow_ups)\./.test(field);

const noneOf = (field: string) => (field.startsWith('roles.') ? [] : null);

/** What follows from other properties, or from the timeline. */
const DERIVED = ['revision', 'status_changed_at', 'event_count', 'last_event_at', 'last_event_summary'];

/**
 * Checks that events about an incident come in the order of its revisions, and that each says what has changed. A deleted
 * event of a timeline has its last state.
 */
function compareChanges(events: readonly FeedEvent[]): void {
  const before = new Map<number, Shown>();
  const timeline = new Map<number | undefined, Shown | undefined>();
  const flat = ({ custom_fields: values, roles, ...shown }: Shown) =>
    new Map([
      ...Object.entries(shown),
      ...Object.entries(roles as object).map(([key, holders]): [string, unknown] => [`roles.${key}`, holders]),
      ...Object.entries(values as object).map(([slug, value]): [string, unknown] => [`custom_fields.${slug}`, value]),
    ]);
  for (const { type, data } of events) {
    const { timeline_event: event } = data;
    if (type === 'timeline_event.deleted') expect(event).toEqual(timeline.get(event?.id));
    timeline.set(event?.id, event);
    const { incident, changes = [] } = data as unknown as {
      incident?: Shown;
      changes?: (Change['changes'][number] & { from: unknown })[];
    };
    if (incident === undefined || !type.startsWith('incident.')) continue;
    if (type === 'incident.deleted' || type === 'incident.postmortem_changed') continue;
    const previous = before.get(incident.id);
    before.set(incident.id, incident);
    expect([type, incident['revision']]).toEqual([type, Number(previous?.['revision'] ?? 0) + 1]);
    if (previous === undefined || type === 'incident.imported') continue;
    const [old, now] = [flat(previous), flat(incident)];
    const changed = [...new Set([...old.keys(), ...now.keys()])].filter(
      (name) => !DERIVED.includes(name) && !isDeepStrictEqual(old.get(name), now.get(name)),
    );
    expect(changes.map(({ field }) => field)).toEqual(expect.arrayContaining(changed));
    for (const { field, from, to } of changes.filter(isProperty)) {
      const [was, is] = [old.get(field) ?? noneOf(field), now.get(field) ?? noneOf(field)];
      expect({ field, from, to }).toEqual({ field, from: like(from, was), to: like(to, is) });
      expect({ field, from }).not.toEqual({ field, from: to });
    }
  }
}

/** Checks that all places that show a resource show the same. Returns the number of comparisons. */
export async function compareAllPlaces(client: Client): Promise<number> {
  let compared = 0;
  const equal = (what: string, one: unknown, other: unknown) => {
    expect([what, one]).toEqual([what, other]);
    compared += 1;
  };
  /** The latest state of each resource in the event feed. */
  const published = new Map<string, Shown>();
  const feed = await readEvents(client);
  compareChanges(feed);
  for (const { type, data } of feed) {
    const [kind = ''] = type.split('.');
    const name = kind.replace('custom-field', 'field');
    const state = data[name] ?? data[kind.replace('-', '_')];
    if (state !== undefined) published.set(`${name} ${state.id}`, state);
  }
  const asPublished = (kind: string, shown: Shown) => {
    const state = Object.entries(published.get(`${kind} ${shown.id}`) ?? {});
    const properties = state.filter(([name]) => Object.hasOwn(shown, name) && name !== 'custom_fields');
    equal(
      `${kind} ${shown.id} in the feed`,
      Object.fromEntries(properties.map(([name, value]) => [name, like(value, shown[name])])),
      Object.fromEntries(properties),
    );
  };

  const resources = listedResources();
  expect(resources.length).toBeGreaterThan(6);
  for (const { path, query, kind, name } of resources) {
    for (const shown of await readList<Shown>(client, `${path}${query}`, name)) {
      const { [kind]: one } = (await client.get(`${path}/${shown.id}`)).body;
      equal(`${kind} ${shown.id}`, comparable(one as Shown), comparable(shown));
      if (query !== '') asPublished(kind, shown);
    }
  }
  const lists = ['/api/v1/incidents', '/api/v1/incidents/archived'];
  const listed = await Promise.all(lists.map(async (list) => readList<Shown>(client, list, 'incidents')));
  const exported = exportedIncidents((await client.get('/api/v1/exports/incidents')).text, listed.flat());
  for (const list of lists) {
    for (const shown of await readList<Shown>(client, list, 'incidents')) {
      const path = `/api/v1/incidents/${shown.id}`;
      const one = comparable(shown);
      equal(path, comparable((await client.get(path)).body.incident), one);
      const reference = String(shown['human_id']);
      equal(reference, comparable((await client.get(`/api/v1/incident-references/${reference}`)).body.incident), one);
      asPublished('incident', shown);
      const search = `${list}?q=${encodeURIComponent(Array.from(String(shown['title'])).slice(0, 60).join(''))}`;
      const incident = (await readList<Shown>(client, search, 'incidents')).find(({ id }) => id === shown.id);
      equal(search, incident && comparable(incident), one);

      const { values } = (await client.get(`${path}/custom-fields`)).body;
      const bySlug = Object.fromEntries(values.map(({ slug, value }: Record<string, unknown>) => [slug, value]));
      equal(`the values of ${path}`, bySlug, shown['custom_fields']);
      const changed = new Map<string, unknown>();
      const changelog = await readList<Change>(client, `${path}/changelog`, 'changelog');
      const recorded = new Set(changelog.flatMap((entry) => (entry.imported === true ? [] : entry.revision)));
      for (let revision = 2; revision <= Number(shown['revision']); revision += 1)
        equal(`an entry of the revision ${revision} of ${path}`, recorded.has(revision), true);
      for (const { changes, imported } of changelog) {
        for (const { field, to } of imported ? [] : changes.filter(isProperty))
          if (!changed.has(field)) changed.set(field, to);
      }
      for (const [field, to] of changed) {
        const [, property, name = ''] = /^(custom_fields|roles)\.(.*)$/.exec(field) ?? [];
        const present = property === undefined ? shown[field] : ((shown[property] as Shown)[name] ?? noneOf(field));
        if (!isDigest(to)) equal(`${field} in the changelog of ${path}`, to, present);
      }
      const line = exported.get(reference) ?? {};
      for (const name of Object.keys(line).filter((each) => Object.hasOwn(shown, each))) {
        equal(`${name} of ${path} in the export`, line[name], shown[name]);
      }
      equal(`the values of ${path} in the export`, line['values'] ?? {}, shown['custom_fields']);
      const events = await readList<Shown>(client, `${path}/timeline`, 'events');
      for (const event of events) {
        equal(`event ${event.id}`, (await client.get(`/api/v1/timeline/${event.id}`)).body.event, event);
        asPublished('timeline_event', event);
      }
      const followUps = await readList<Shown>(client, `${path}/follow-ups`, 'follow_ups');
      for (const followUp of followUps) {
        equal(`${followUp.id}`, (await client.get(`/api/v1/follow-ups/${followUp.id}`)).body.follow_up, followUp);
        if (shown['imported_at'] === null) asPublished('follow_up', followUp);
      }
      const titles = (all: unknown) => (all as Shown[]).map(({ title, due_on }) => ({ title, due_on }));
      equal(
        `the follow-ups of ${path} in the export`,
        new Set(titles(line['follow_ups'] ?? [])),
        new Set(titles(followUps)),
      );
      const texts = (all: unknown) => (all as Shown[]).map(({ body, title, tags }) => ({ body, title, tags }));
      equal(`the timeline of ${path} in the export`, texts(line['timeline'] ?? []), texts(events));
    }
  }
  return compared;
}

/** The lists of whose rows each can also be read alone, with the names of their properties. */
const listedResources = () =>
  Object.values(OPERATIONS).flatMap(({ path, method, parameters, reply: page }) => {
    const one = Object.values(OPERATIONS).find((each) => each.method === 'GET' && each.path === `${path}/{id}`);
    if (method !== 'GET' || !isPaged(parameters) || page === undefined) return [];
    if (one?.reply === undefined || one.reply.schema !== page.schema) return [];
    const query = parameters.includes('include_archived') ? '?include_archived=true' : '';
    return { path, query, kind: one.reply.name, name: page.name };
  });

interface Change {
  revision: number;
  changes: { field: string; to: unknown }[];
  imported?: boolean;
}

/** The lines of incidents by their references: the export has them by number. */
function exportedIncidents(text: string, incidents: readonly Shown[]): Map<string, Record<string, unknown>> {
  const lines = text.split('\n').filter((line) => line.startsWith('{"kind":"incident"'));
  const references = incidents.map(({ human_id: reference }) => String(reference));
  // In the order of their numbers, some of which are of incidents that were deleted.
  references.sort((a, b) => Number(a.slice(4)) - Number(b.slice(4)));
  return new Map(lines.map((line, index) => [references[index] ?? '', JSON.parse(line) as Record<string, unknown>]));
}

interface FeedEvent {
  type: string;
  data: Record<string, Shown | undefined>;
}

/** All events of the feed. */
export async function readEvents(client: Client): Promise<FeedEvent[]> {
  const all: FeedEvent[] = [];
  for (let position = 'from=beginning', more = true; more;) {
    const { events, pagination } = (await client.get(`/api/v1/events?limit=100&${position}`)).body;
    all.push(...(events as FeedEvent[]));
    position = `after=${pagination.next_cursor}`;
    more = pagination.has_more as boolean;
  }
  return all;
}
