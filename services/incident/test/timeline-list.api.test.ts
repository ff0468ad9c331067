import { describe, expect, test } from '@jest/globals';
import { configure } from './configure.ts';
import { serviceForFile } from './service.ts';
import { recordAnything } from './timeline.ts';

const service = await serviceForFile();
const client = service.as();
const { knex: database } = service;

const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00.000Z`;
const invalid = (field: string) =>
  expect.objectContaining({ status: 400, body: expect.objectContaining({ code: 'invalid_request', field }) });

/** An incident with events that have distinct bodies. */
async function withEvents(...events: object[]) {
  const { body } = await client.post('/api/v1/incidents', { title: 'Checkout is down' });
  const id: number = body.incident.id;
  const path = `/api/v1/incidents/${id}/timeline`;
  for (const event of events) expect((await client.post(path, event)).status).toBe(201);
  return {
    id,
    path,
    list: async (query = '') => client.get(`${path}?${query}`),
    bodies: async (query = ''): Promise<string[]> => {
      const answer = await client.get(`${path}?${query}`);
      expect(answer.status).toBe(200);
      expect(answer.body.matched_count).toBe(answer.body.events.length);
      return answer.body.events.map((event: { body: string }) => event.body);
    },
  };
}

test('an incident without events has an empty timeline', async () => {
  const { list } = await withEvents();
  expect((await list()).body).toEqual({
    events: [],
    filter_counts: { all_events: 0, type_counts: {}, source_counts: {}, tag_counts: {} },
    matched_count: 0,
    latest_started_at: null,
    pagination: { limit: 50, has_more: false },
    has_more: false,
  });
});

test('the order is by start and ID, ascending or descending', async () => {
  const { bodies } = await withEvents({ body: 'b', at: at(2) }, { body: 'a', at: at(1) }, { body: 'c', at: at(2) });
  expect(await bodies()).toEqual(['a', 'b', 'c']);
  expect(await bodies('order=asc')).toEqual(['a', 'b', 'c']);
  expect(await bodies('order=desc')).toEqual(['c', 'b', 'a']);
});

describe('filters', () => {
  test('started_from is inclusive, started_to exclusive, and no other filter affects the counts', async () => {
    const { list, bodies } = await withEvents(
      { body: '1', at: at(1), type: 'deploy', tags: ['db'] },
      { body: '2', at: at(2), tags: ['db', 'eu'] },
      { body: '3', at: at(3), is_key: true },
    );
    expect(await bodies(`started_from=${at(1)}&started_to=${at(3)}`)).toEqual(['1', '2']);
    expect(await bodies(`started_from=2026-11-20T04:00:00%2B02:00`)).toEqual(['2', '3']);
    expect(await bodies(`started_from=${at(3)}&started_to=${at(1)}`)).toEqual([]);
    const { body } = await list(`started_to=${at(3)}&key_only=true&tag=none`);
    expect(body).toMatchObject({
      filter_counts: {
        all_events: 2,
        type_counts: { deploy: 1, note: 1 },
        source_counts: { api: 2 },
        tag_counts: { db: 2, eu: 1 },
      },
      matched_count: 0,
      latest_started_at: at(3),
    });
  });

  test('type_or_source ignores case and surrounding space', async () => {
    const { id, bodies } = await withEvents({ body: 'note' }, { body: 'deploy', type: 'Übergabe' });
    await recordAnything(database, id, { body: 'slack', source: 'slack' });
    expect(await bodies('type_or_source=%20%C3%9CBERGABE%09')).toEqual(['deploy']);
    expect(await bodies('type_or_source=Slack')).toEqual(['slack']);
    expect(await bodies('type_or_source=api')).toEqual(['note', 'deploy']);
    expect(await bodies('type_or_source=')).toHaveLength(3);
    expect(await bodies('type_or_source=not')).toEqual([]);
  });

  test('ai matches everything that AI created', async () => {
    const { id, bodies } = await withEvents({ body: 'by hand', type: 'ai' });
    for (const [source, type] of [
      ['ai', 'note'],
      ['ai_investigation', 'finding'],
      ['investigation', 'note'],
      ['manual', 'investigation'],
      ['manual', 'note'],
      ['slack', 'investigation'],
    ] as const) {
      await recordAnything(database, id, { body: `${type} by ${source}`, source, type });
    }
    expect(await bodies('type_or_source=AI')).toEqual([
      'note by ai',
      'finding by ai_investigation',
      'note by investigation',
      'investigation by manual',
    ]);
    expect(await bodies('type_or_source=investigation')).toEqual([
      'note by investigation',
      'investigation by manual',
      'investigation by slack',
    ]);
  });

  test('tag matches any of the tags, case-insensitive', async () => {
    const { bodies } = await withEvents(
      { body: '1', tags: ['EU West'] },
      { body: '2', tags: ['db'] },
      { body: '3', tags: ['euwest'] },
      { body: '4' },
    );
    expect(await bodies('tag=eu+west&tag=DB')).toEqual(['1', '2']);
    expect(await bodies('tag=eu++west')).toEqual([]);
    expect(await bodies('tag=+db')).toEqual([]);
    expect(await bodies('tag=')).toEqual([]);
  });

  test('group matches any of the groups, or events in no group', async () => {
    await configure(database, 1, {
      timeline_groups: [
        { id: 3, name: 'Comms' },
        { id: 4, name: 'Datenbank-ÄRGER' },
      ],
    });
    const { bodies } = await withEvents({ body: '1', group_id: 3 }, { body: '2', group_id: 4 }, { body: '3' });
    expect(await bodies('group=3')).toEqual(['1']);
    expect(await bodies('group=3&group=ungrouped')).toEqual(['1', '3']);
    expect(await bodies('group=ungrouped')).toEqual(['3']);
    expect(await bodies('group=4&group=3')).toEqual(['1', '2']);
    expect(await bodies('group=99')).toEqual([]);
    expect(await bodies('q=datenbank-%C3%A4rger')).toEqual(['2']);
  });

  test('key_only and suggestions', async () => {
    const { id, bodies } = await withEvents({ body: '1', is_key: true }, { body: '2', is_key: false });
    await recordAnything(database, id, { body: '3', type: 'ai_suggested', source: 'ai' });
    expect(await bodies('key_only=true')).toEqual(['1']);
    expect(await bodies('key_only=false')).toHaveLength(3);
    expect(await bodies('suggestions=include')).toHaveLength(3);
    expect(await bodies('suggestions=exclude')).toEqual(expect.not.arrayContaining(['3']));
    expect(await bodies('suggestions=only')).toEqual(['3']);
  });

  test('q matches a literal part of one text, case-insensitive in every script', async () => {
    const { id, bodies } = await withEvents(
      { body: 'Großer Ärger', at: at(1) },
      { body: 'x', title: '100% off_by_one', at: at(2) },
      { body: 'y', tags: ['a', 'b c'], at: at(3) },
      { body: 'ΟΔΟΣΗΜΟ', at: at(4) },
      { body: 'one\\two', at: at(5) },
    );
    await recordAnything(database, id, { body: 'z', aiContext: 'ВОССТАНОВЛЕНИЕ', startedAt: at(6) });
    const find = async (text: string) => bodies(`q=${encodeURIComponent(text)}`);
    expect(await find('ÄRGER')).toEqual(['Großer Ärger']);
    expect(await find('GROSSER')).toEqual(['Großer Ärger']);
    expect(await find('0% OFF_')).toEqual(['x']);
    expect(await find('%')).toEqual(['x']);
    expect(await find('_')).toEqual(['x']);
    expect(await find('a b')).toEqual(['y']);
    expect(await find('οδος')).toEqual(['ΟΔΟΣΗΜΟ']);
    expect(await find('восстановление')).toEqual(['z']);
    expect(await find('\\')).toEqual(['one\\two']);
    // A match must not span two texts.
    expect(await find('off_by_onex')).toEqual([]);
    expect(await find('ärger ')).toEqual([]);
    expect(await find('')).toHaveLength(6);
  });

  test('all of them together', async () => {
    const { bodies } = await withEvents(
      { body: 'yes', tags: ['db'], is_key: true, type: 'deploy' },
      { body: 'no key', tags: ['db'], type: 'deploy' },
      { body: 'no tag', is_key: true, type: 'deploy' },
      { body: 'no type', tags: ['db'], is_key: true },
    );
    expect(await bodies('tag=db&key_only=true&type_or_source=deploy&suggestions=exclude&group=ungrouped')).toEqual([
      'yes',
    ]);
  });

  test('unknown filters and invalid values are rejected', async () => {
    const { list } = await withEvents();
    for (const [query, field] of [
      ['types=note', 'types'],
      ['order=up', 'order'],
      ['order=asc&order=asc', 'order'],
      ['group=0', 'group'],
      ['group=1&group=-1', 'group'],
      ['group=Ungrouped', 'group'],
      ['group=9007199254740993', 'group'],
      ['suggestions=some', 'suggestions'],
      ['started_from=2026-11-20', 'started_from'],
      ['started_to=2026-11-20T25:00:00Z', 'started_to'],
      ['key_only=yes', 'key_only'],
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['cursor=', 'cursor'],
      ['q=%00', 'q'],
      ['tag=%FF', 'tag'],
    ] as const) {
      expect(await list(query)).toEqual(invalid(field));
    }
  });
});

test('counts support any key', async () => {
  const odd = ['__proto__', 'constructor', 'toString', '10', 'a"b'];
  const { list } = await withEvents(...odd.map((word) => ({ body: 'x', type: word, tags: [word, 'db', 'DB'] })));
  const { text, body } = await list();
  expect(text).toContain('"__proto__":1');
  for (const counts of ['type_counts', 'tag_counts']) {
    for (const word of odd) expect(Object.entries(body.filter_counts[counts])).toContainEqual([word, 1]);
  }
  expect(body.filter_counts.tag_counts.db).toBe(5);
});

describe('cursors', () => {
  const events = Array.from({ length: 5 }, (_, index) => ({ body: String(index), at: at(index), tags: ['a', 'b'] }));

  test('list each event once, with the deprecated copies', async () => {
    const { list } = await withEvents(...events);
    const first = await list('limit=2&order=desc');
    expect(first.body.events).toHaveLength(2);
    expect(first.body).toMatchObject({ has_more: true, matched_count: 5, pagination: { limit: 2, has_more: true } });
    expect(first.body.next_cursor).toBe(first.body.pagination.next_cursor);
    const second = await list(`limit=3&order=desc&cursor=${first.body.next_cursor}`);
    expect(second.body.events.map(({ body }: { body: string }) => body)).toEqual(['2', '1', '0']);
    expect(second.body).toMatchObject({ has_more: false, matched_count: 5 });
    expect(second.body.next_cursor).toBeUndefined();
  });

  test('are bound to the incident, the order and the normalised filters', async () => {
    const one = await withEvents(...events);
    const other = await withEvents(...events);
    const { body } = await one.list('limit=2&tag=A&tag=b&order=asc');
    const cursor: string = body.next_cursor;
    const same = await one.list(`tag=b&tag=a&tag=B&suggestions=include&key_only=false&q=&limit=1&cursor=${cursor}`);
    expect(same.body.events.map((event: { body: string }) => event.body)).toEqual(['2']);
    for (const wrong of ['tag=a', 'tag=a&tag=b&order=desc', 'tag=a&tag=b&q=x', 'tag=a&tag=b&group=ungrouped', '']) {
      expect(await one.list(`${wrong}&cursor=${cursor}`)).toEqual(invalid('cursor'));
    }
    expect(await other.list(`tag=a&tag=b&cursor=${cursor}`)).toEqual(invalid('cursor'));
    expect(await one.list(`tag=a&tag=b&cursor=${cursor}A`)).toEqual(invalid('cursor'));
    expect(await one.list('cursor=nonsense')).toEqual(invalid('cursor'));
  });

  test('of the old form are accepted with ascending order and time bounds', async () => {
    const { list } = await withEvents(...events);
    const { body } = await list();
    const [, second] = body.events;
    const legacy = (text: string) => Buffer.from(text).toString('base64url');
    const bodies = async (query: string) =>
      (await list(query)).body.events.map((event: { body: string }) => event.body);
    expect(await bodies(`cursor=${legacy(`${second.started_at}|${second.id}`)}`)).toEqual(['2', '3', '4']);
    expect(await bodies(`cursor=${legacy(`2026-11-20T02:00:00%2B00:00|1`.replace('%2B', '+'))}&order=asc`)).toEqual([
      '2',
      '3',
      '4',
    ]);
    const cursor = legacy(`${second.started_at}|${second.id}`);
    expect(await bodies(`started_to=${at(4)}&suggestions=include&cursor=${cursor}`)).toEqual(['2', '3']);
    for (const more of [
      'order=desc',
      'tag=a',
      'q=1',
      'key_only=true',
      'group=ungrouped',
      'suggestions=exclude',
      'type_or_source=note',
    ]) {
      expect(await list(`${more}&cursor=${cursor}`)).toEqual(invalid('cursor'));
    }
    for (const text of [
      'yesterday|1',
      `${at(1)}|0`,
      `${at(1)}|x`,
      `${at(1)}|9007199254740993`,
      at(1),
      `${at(1)}|1|2`,
    ]) {
      expect(await list(`cursor=${legacy(text)}`)).toEqual(invalid('cursor'));
    }
  });
});
