import { beforeEach, describe, expect, test } from '@jest/globals';
import { SCOPES } from '@tocsin/schemas';
import { addMilliseconds } from '@tocsin/runtime';
import type { Answer } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import {
  clearFeed,
  envelopeOf,
  FEED,
  fill,
  messageOf,
  type PublishedType,
  record,
  SCOPE_OF_TYPE,
  startFeedService,
} from './feed.ts';

const TYPES = Object.keys(SCOPE_OF_TYPE) as PublishedType[];
const READ_SCOPES = ['incidents:read', 'services:read', 'teams:read', 'custom_fields:read'];
const DAY = 24 * 3_600_000;

const service = await startFeedService();
beforeEach(async () => clearFeed(service));

const read = async (query: Record<string, string> = {}, user = {}): Promise<Answer> =>
  service.as(user).get(`${FEED}?${new URLSearchParams(query).toString()}`);

/** A page that must be one. */
async function page(query: Record<string, string> = {}, user = {}) {
  const { status, body, text } = await read(query, user);
  if (status !== 200) throw new Error(`${status} ${text}`);
  const events = body.events as { id: string; type: string }[];
  return {
    ids: events.map(({ id }) => id),
    cursor: body.pagination.next_cursor as string,
    hasMore: body.pagination.has_more as boolean,
    body,
  };
}

/** Reads page after page until there are no further events now. */
async function readAll(query: Record<string, string>, user = {}) {
  const ids: string[] = [];
  let { cursor, hasMore, ids: next } = await page(query, user);
  ids.push(...next);
  const { from: _, ...filter } = query;
  for (let pages = 1; hasMore; pages += 1) {
    if (pages > 1_000) throw new Error('the feed does not end');
    ({ cursor, hasMore, ids: next } = await page({ ...filter, after: cursor }, user));
    ids.push(...next);
  }
  return { ids, cursor };
}

describe('a page', () => {
  test('begins behind the latest event by default, and continues with what is recorded then', async () => {
    await record(service, { id: 1 });
    const { ids, cursor, hasMore, body } = await page();
    expect({ ids, hasMore }).toEqual({ ids: [], hasMore: false });
    expect(body.pagination).toEqual({ limit: 50, has_more: false, next_cursor: cursor });
    expect((await page({ from: 'now' })).ids).toEqual([]);

    const [second] = await record(service, { id: 2 });
    const next = await page({ after: cursor });
    expect(next.ids).toEqual([second]);
    expect((await page({ after: next.cursor })).ids).toEqual([]);
    // The first cursor still leads to the same events.
    expect((await page({ after: cursor })).ids).toEqual([second]);
  });

  test('begins with the oldest event on request, and has all in the order of the queue', async () => {
    const ids = await record(service, ...Array.from({ length: 120 }, (_, index) => ({ id: index + 1 })));
    const first = await page({ from: 'beginning', limit: '100' });
    expect(first.ids).toEqual(ids.slice(0, 100));
    expect(first.hasMore).toBe(true);
    const second = await page({ after: first.cursor, limit: '20' });
    expect(second.ids).toEqual(ids.slice(100));
    expect(second.hasMore).toBe(false);
    expect((await readAll({ from: 'beginning', limit: '7' })).ids).toEqual(ids);
  });

  test('of an empty feed has a cursor', async () => {
    const { cursor } = await page({ from: 'beginning' });
    const [id] = await record(service, {});
    expect((await page({ after: cursor })).ids).toEqual([id]);
  });

  test('has the messages exactly as they came', async () => {
    const event = envelopeOf({ title: 'Zoë \u{1F525}' });
    const [start = '', end = ''] = JSON.stringify({ ...event, extra: { number: 7 } }).split('"number":7');
    // A number that JavaScript would write in another way, and a property that nobody knows.
    const body = `${start}"number":1.50e1${end}`;
    expect(await service.broker.publish([{ ...messageOf(event), body }])).toEqual(['confirmed']);
    const { text } = await read({ from: 'beginning' });
    expect(text.startsWith(`{"events":[${body}],`)).toBe(true);
  });

  test('ends at about four MiB, and has an event that is larger than that', async () => {
    const large = 'x'.repeat(1_500_000);
    const ids = await record(service, ...[1, 2, 3, 4].map((id) => ({ id, title: large })));
    const first = await page({ from: 'beginning' });
    expect(first.ids).toEqual(ids.slice(0, 2));
    expect(first.hasMore).toBe(true);
    expect((await readAll({ from: 'beginning' })).ids).toEqual(ids);
    const [huge] = await record(service, { title: 'x'.repeat(5_000_000) });
    const { cursor } = await readAll({ from: 'beginning', limit: '1' });
    expect((await page({ after: cursor })).ids).toEqual([]);
    expect((await readAll({ from: 'beginning' })).ids.at(-1)).toBe(huge);
  });

  test('begins with the first event that was recorded at a time or later', async () => {
    const ids: string[] = [];
    for (let id = 1; id <= 3; id += 1) {
      service.clock.advance(1_000);
      ids.push(...(await record(service, { id })));
    }
    const from = (offset: number) => addMilliseconds(service.clock.now(), offset);
    expect((await readAll({ from: from(-3_600_000), limit: '2' })).ids).toEqual(ids);
    expect((await page({ from: from(-1_000) })).ids).toEqual(ids.slice(1));
    // Finer than a millisecond: after the second event.
    expect((await page({ from: from(-1_000).replace('Z', '1Z') })).ids).toEqual(ids.slice(2));
    const { ids: none, cursor } = await page({ from: from(3_600_000) });
    expect(none).toEqual([]);
    const [next] = await record(service, { id: 4 });
    expect((await page({ after: cursor })).ids).toEqual([next]);
  });

  test('has only events of its own workspace', async () => {
    const [own] = await record(service, { workspaceId: 1 }, { workspaceId: 2 });
    expect((await readAll({ from: 'beginning' })).ids).toEqual([own]);
    expect((await page({ from: 'beginning' }, { workspace: { id: 3 } })).ids).toEqual([]);
  });
});

describe('a request', () => {
  test.each<[Record<string, string>, string]>([
    [{ after: 'x', from: 'now' }, 'from'],
    [{ from: 'yesterday' }, 'from'],
    [{ from: '2026-11-20T09:00:00' }, 'from'],
    [{ from: '2026-02-30T09:00:00Z' }, 'from'],
    [{ types: 'incident.exploded' }, 'types'],
    [{ types: 'user.changed' }, 'types'],
    [{ types: 'incident.created,' }, 'types'],
    [{ resource: 'incident' }, 'resource'],
    [{ resource: 'incident:0' }, 'resource'],
    [{ resource: 'incident:-1' }, 'resource'],
    [{ resource: 'user:1' }, 'resource'],
    [{ resource: 'incident:1:2' }, 'resource'],
    [{ resource: 'incident:9999999999999999999' }, 'resource'],
  ])('with %p is refused and names %p', async (query, field) => {
    const { status, body } = await read(query);
    expect([status, body.code, body.field]).toEqual([400, 'invalid_request', field]);
  });
});

describe('filters', () => {
  test('types may be repeated, separated by commas, or both', async () => {
    const ids = await record(service, ...TYPES.map((type) => ({ type })));
    const of = (...types: PublishedType[]) => ids.filter((_, index) => types.includes(TYPES[index]!));
    const [one, two, three] = ['incident.created', 'team.changed', 'service.changed'] as const;
    for (const query of [
      `types=${one},${two}&types=${three}`,
      `types=${one}, ${two} ,${three}`,
      `types=${three}&types=${one}&types=${two},${two}`,
    ]) {
      const { body } = await service.as().get(`${FEED}?from=beginning&${query}`);
      expect(body.events.map(({ id }: { id: string }) => id)).toEqual(of(one, two, three));
    }
  });

  test('an event among many others is found at once', async () => {
    await fill(service, { count: 20_000 });
    const [rare] = await record(service, { type: 'team.changed', id: 5 });
    await fill(service, { count: 20_000 });
    for (const query of [{ types: 'team.changed' }, { resource: 'team:5' }]) {
      const { ids, hasMore, cursor } = await page({ from: 'beginning', limit: '1', ...query });
      expect({ ids, hasMore }).toEqual({ ids: [rare], hasMore: false });
      expect((await page({ after: cursor })).ids).toEqual([]);
    }
  });

  test('pages of any filters and scopes have exactly what an honest list of all events has', async () => {
    const events = fc.array(fc.record({ type: fc.constantFrom(...TYPES), id: fc.integer({ min: 1, max: 3 }) }), {
      maxLength: 40,
    });
    const queries = fc.record({
      types: fc.option(fc.subarray(TYPES, { minLength: 1 })),
      resource: fc.option(fc.constantFrom('incident:1', 'incident:2', 'service:1', 'team:2', 'custom_field:3')),
      scopes: fc.subarray(READ_SCOPES, { minLength: 1 }),
      limit: fc.integer({ min: 1, max: 9 }),
    });
    const kindOf = (type: PublishedType) => SCOPE_OF_TYPE[type].split(':')[0]!.slice(0, -1);
    await fc.assert(
      fc.asyncProperty(events, queries, async (all, { types, resource, scopes, limit }) => {
        await clearFeed(service);
        const ids = await record(service, ...all);
        const expected = ids.filter((_, index) => {
          const { type, id } = all[index]!;
          return (
            scopes.includes(SCOPE_OF_TYPE[type]) &&
            (types?.includes(type) ?? true) &&
            (resource === null || resource === `${kindOf(type)}:${id}`)
          );
        });
        const query = {
          from: 'beginning',
          limit: String(limit),
          ...(types !== null && { types: types.join(',') }),
          ...(resource !== null && { resource }),
        };
        const { ids: found, cursor } = await readAll(query, { scopes });
        expect(found).toEqual(expected);
        expect((await page({ after: cursor })).ids).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a key', () => {
  test.each(TYPES.flatMap((type) => SCOPES.map((scope) => [type, scope] as const)))(
    'reads %s with %s only if that is its scope',
    async (type, scope) => {
      const [id] = await record(service, { type });
      const { status, body } = await read({ from: 'beginning' }, { scopes: [scope] });
      if (!READ_SCOPES.includes(scope)) {
        expect([status, body.code, body.details]).toEqual([403, 'missing_scope', { required_scopes: READ_SCOPES }]);
        return;
      }
      const isAllowed = SCOPE_OF_TYPE[type] === scope;
      expect(body.events.map((event: { id: string }) => event.id)).toEqual(isAllowed ? [id] : []);
      // The cursor has passed what the key may not read.
      const { next_cursor: cursor } = body.pagination;
      expect((await page({ after: cursor })).ids).toEqual([]);
      expect((await read({ from: 'beginning', types: type }, { scopes: [scope] })).body.events).toHaveLength(
        isAllowed ? 1 : 0,
      );
    },
  );
});

describe('a history limit', () => {
  const limited = { workspace: { history_days: 2 } };

  test('hides older events and expires cursors before them', async () => {
    const { cursor: start } = await page();
    await record(service, { id: 1 }, { id: 2 });
    const { cursor: middle } = await page();
    service.clock.advance(DAY);
    const [recent] = await record(service, { id: 3 });
    expect((await readAll({ from: 'beginning' }, limited)).ids).toHaveLength(3);

    service.clock.advance(DAY + 1);
    expect((await readAll({ from: 'beginning' }, limited)).ids).toEqual([recent]);
    expect((await readAll({ from: 'beginning' })).ids).toHaveLength(3);
    const { status, body } = await read({ after: start }, limited);
    expect([status, body.code, body.field]).toEqual([410, 'cursor_expired', 'after']);
    expect((await page({ after: middle }, limited)).ids).toEqual([recent]);

    service.clock.advance(DAY);
    expect((await page({ from: 'beginning' }, limited)).ids).toEqual([]);
    const { cursor: end } = await page({}, limited);
    const [next] = await record(service, { id: 4 });
    expect((await page({ after: end }, limited)).ids).toEqual([next]);
  });
});
