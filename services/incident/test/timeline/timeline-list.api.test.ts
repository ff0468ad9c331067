import { describe, expect, test } from '@jest/globals';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();
const client = service.as();

const at = (hour: number) => `2026-11-20T${String(hour).padStart(2, '0')}:00:00.000Z`;
const invalid = (field: string) =>
  expect.objectContaining({ status: 400, body: expect.objectContaining({ code: 'invalid_request', field }) });

/** An incident with events that have distinct bodies. */
async function withEvents(...events: object[]) {
  const { body } = await client.post('/api/v1/incidents', { title: 'Checkout is down' });
  const path = `/api/v1/incidents/${body.incident.id}/timeline`;
  for (const event of events) expect((await client.post(path, event)).status).toBe(201);
  return {
    list: async (query = '') => client.get(`${path}?${query}`),
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

  test('of the legacy form are accepted with ascending order, time bounds and suggestions only', async () => {
    const { list } = await withEvents(...events);
    const other = await withEvents();
    const { body } = await list();
    const [, second] = body.events;
    const legacy = (text: string) => Buffer.from(text).toString('base64url');
    const bodies = async (query: string) =>
      (await list(query)).body.events.map((event: { body: string }) => event.body);
    const cursor = legacy(`${second.started_at}|${second.id}`);
    expect(await bodies(`cursor=${cursor}`)).toEqual(['2', '3', '4']);
    expect(await bodies(`cursor=${legacy(`2026-11-20T02:00:00+00:00|1`)}&order=asc`)).toEqual(['2', '3', '4']);
    expect(await bodies(`started_to=${at(4)}&suggestions=include&cursor=${cursor}`)).toEqual(['2', '3']);
    expect(await bodies(`started_from=${at(4)}&cursor=${cursor}`)).toEqual(['4']);
    expect((await other.list(`cursor=${cursor}`)).body.events).toEqual([]);
    const { body: page } = await list(`limit=1&cursor=${cursor}`);
    expect(await bodies(`cursor=${page.next_cursor}`)).toEqual(['3', '4']);
    for (const more of [
      'order=desc',
      'tag=a',
      'q=1',
      'key_only=true',
      'group=1',
      'group=ungrouped',
      'suggestions=exclude',
      'suggestions=only',
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
