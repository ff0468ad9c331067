import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { configure } from '../configure.ts';
import { serviceForFile } from '../service.ts';
import { recordAnything } from './timeline.ts';

/**
 * Compares the timeline with a model: an array that is filtered and sorted as the contract says. It has few distinct values,
 * so that filters match often.
 */
interface Recorded {
  id: number;
  startedAt: string;
  type: string;
  source: string;
  tags: string[];
  groupId: number | null;
  isKey: boolean;
  title: string;
  body: string;
  aiContext: string;
}

interface Query {
  order: 'asc' | 'desc';
  type_or_source?: string | undefined;
  tag?: string[] | undefined;
  key_only?: boolean | undefined;
  group?: string[] | undefined;
  q?: string | undefined;
  suggestions?: string | undefined;
  started_from?: string | undefined;
  started_to?: string | undefined;
}

const GROUPS = [
  { id: 1, name: 'Kunden 100%' },
  { id: 2, name: 'ДАННЫЕ' },
];
const TIMES = Array.from({ length: 12 }, (_, index) => `2026-11-20T09:0${Math.floor(index / 6)}:0${index % 6}.000Z`);
const TAGS = ['db', 'DB', 'Eu West', 'Ärger', '__proto__', 'a_b'];
const TEXTS = ['', 'Rollback', 'ÄRGER im Netz', '100%', 'a_b', 'данные weg', 'x db y', 'ab'];

const recorded = fc.record({
  startedAt: fc.constantFrom(...TIMES),
  type: fc.constantFrom('note', 'Deploy', 'ai_suggested', 'investigation', 'ai', '__proto__'),
  source: fc.constantFrom('api', 'api', 'ai', 'ai_investigation', 'investigation', 'manual', 'slack'),
  tags: fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 3, selector: (tag) => tag.toLowerCase() }),
  groupId: fc.constantFrom(null, null, 1, 2),
  isKey: fc.boolean(),
  title: fc.constantFrom(...TEXTS),
  body: fc.constantFrom(...TEXTS).map((text) => `.${text}`),
  aiContext: fc.constantFrom(...TEXTS),
});

const maybe = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined, freq: 2 });
const query: fc.Arbitrary<Omit<Query, 'order'>> = fc.record({
  type_or_source: maybe(fc.constantFrom('ai', ' AI ', 'note', 'DEPLOY', 'slack', 'Investigation', 'none', '')),
  tag: maybe(
    fc.array(fc.constantFrom('db', 'EU WEST', ' db', 'ärger', 'ÄRGER', '__PROTO__', 'none'), { maxLength: 3 }),
  ),
  key_only: maybe(fc.boolean()),
  group: maybe(fc.array(fc.constantFrom('1', '2', '3', 'ungrouped'), { maxLength: 3 })),
  q: maybe(fc.constantFrom('ärger', 'ROLL', '%', '_', '100%', 'ДАННЫЕ', 'db', 'west db', '', 'x', 'netz', 'kunden')),
  suggestions: maybe(fc.constantFrom('include', 'exclude', 'only')),
  started_from: maybe(fc.constantFrom(...TIMES)),
  started_to: maybe(fc.constantFrom(...TIMES)),
});

const lower = (text: string) => text.toLowerCase();

const withinTime = (event: Recorded, { started_from, started_to }: Query) =>
  (started_from === undefined || event.startedAt >= started_from) &&
  (started_to === undefined || event.startedAt < started_to);

function matches(event: Recorded, filters: Query): boolean {
  const { type_or_source = '', tag = [], key_only = false, group = [], q = '', suggestions = 'include' } = filters;
  const typeOrSource = lower(type_or_source.trim());
  const groupName = GROUPS.find(({ id }) => id === event.groupId)?.name ?? '';
  const texts = [event.title, event.body, event.aiContext, event.tags.join(' '), groupName];
  const isAi =
    ['ai', 'ai_investigation', 'investigation'].includes(event.source) ||
    (event.type === 'investigation' && event.source === 'manual');
  return (
    withinTime(event, filters) &&
    (typeOrSource === '' ||
      (typeOrSource === 'ai' ? isAi : lower(event.type) === typeOrSource || event.source === typeOrSource)) &&
    (tag.length === 0 || tag.some((one) => event.tags.some((own) => lower(own) === lower(one)))) &&
    (!key_only || event.isKey) &&
    (group.length === 0 || group.includes(event.groupId === null ? 'ungrouped' : String(event.groupId))) &&
    (q === '' || texts.some((text) => lower(text).includes(lower(q)))) &&
    (suggestions === 'include' || (event.type === 'ai_suggested') === (suggestions === 'only'))
  );
}

const countBy = (keys: string[]) => {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};

const model: Recorded[] = [];

const service = await serviceForFile();
const client = service.as();
const { knex: database } = service;
await configure(database, 1, { timeline_groups: GROUPS });
const { body } = await client.post('/api/v1/incidents', { title: 'x' });
const path = `/api/v1/incidents/${body.incident.id}/timeline`;
for (const event of fc.sample(recorded, { numRuns: 70, seed: 20261120 })) {
  model.push({ ...event, id: await recordAnything(database, body.incident.id, event) });
}
// The events of another incident must never appear.
const other = await client.post('/api/v1/incidents', { title: 'y' });
for (const event of fc.sample(recorded, { numRuns: 10, seed: 1 })) {
  await recordAnything(database, other.body.incident.id, event);
}

/** Reads all pages, and checks on each page what must be equal on all. */
async function traverse(filters: Query, limit: number): Promise<number[]> {
  const search = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(filters)) {
    for (const item of [value].flat()) if (item !== undefined) search.append(name, String(item));
  }
  const bounded = model.filter((event) => withinTime(event, filters));
  const ids: number[] = [];
  for (;;) {
    const { status, body } = await client.get(`${path}?${search.toString()}`);
    expect(status).toBe(200);
    expect(body.matched_count).toBe(model.filter((event) => matches(event, filters)).length);
    expect(body.latest_started_at).toBe(
      model
        .map(({ startedAt }) => startedAt)
        .sort()
        .at(-1),
    );
    const { all_events, type_counts, source_counts, tag_counts } = body.filter_counts;
    expect(all_events).toBe(bounded.length);
    expect(new Map(Object.entries(type_counts))).toEqual(countBy(bounded.map(({ type }) => type)));
    expect(new Map(Object.entries(source_counts))).toEqual(countBy(bounded.map(({ source }) => source)));
    expect(new Map(Object.entries(tag_counts))).toEqual(countBy(bounded.flatMap(({ tags }) => tags)));
    ids.push(...body.events.map(({ id }: { id: number }) => id));
    if (body.next_cursor === undefined) return ids;
    expect(body.events).toHaveLength(limit);
    search.set('cursor', body.next_cursor);
  }
}

test('more than three hundred queries, read to the end in both orders', async () => {
  await fc.assert(
    fc.asyncProperty(query, fc.integer({ min: 7, max: 40 }), async (filters, limit) => {
      const expected = model
        .filter((event) => matches(event, { ...filters, order: 'asc' }))
        .sort((a, b) => (a.startedAt === b.startedAt ? a.id - b.id : a.startedAt < b.startedAt ? -1 : 1))
        .map(({ id }) => id);
      expect(await traverse({ ...filters, order: 'asc' }, limit)).toEqual(expected);
      expect(await traverse({ ...filters, order: 'desc' }, limit)).toEqual(expected.toReversed());
    }),
    { numRuns: 320 },
  );
});
