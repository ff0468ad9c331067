import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from '@tocsin/postgres';
import { eventually, holdTransaction } from '@tocsin/testing';
import { countWaiting, openOwnDatabase, startService, type TestService } from './service.ts';

const EVENTS = 1_200;
let service: TestService;
let database: Knex;
beforeAll(async () => {
  service = await startService();
  database = openOwnDatabase(service);
});
afterAll(async () => {
  await database.destroy();
  await service.stop();
});

/** An incident with more events than are counted at any time, a minute apart; every third has the tag `third`. */
async function withManyEvents(workspaceId: number) {
  const client = service.as({ workspace: { id: workspaceId, slug: `w${workspaceId}` } });
  const { incident } = (await client.post('/api/v1/incidents', { title: 'Checkout is down' })).body;
  const path = `/api/v1/incidents/${incident.id}/timeline`;
  const { event } = (await client.post(path, { body: 'x', tags: ['all'], at: '2026-11-20T00:00:00.000Z' })).body;
  const columns = await database('timeline_events').columnInfo();
  const copied = Object.keys(columns).filter((name) => !['id', 'started_at', 'tags', 'tags_folded'].includes(name));
  const tags = `case n % 3 when 0 then array['all', 'third'] else array['all'] end`;
  await database.raw(
    `insert into timeline_events (${copied.join()}, started_at, tags, tags_folded)
     select ${copied.join()}, started_at + n * interval '1 minute', ${tags}, ${tags}
     from timeline_events, generate_series(1, ${EVENTS - 1}) as n where id = ?`,
    [event.id],
  );
  await database('incidents').where('id', incident.id).update({ event_count: EVENTS });
  return { client, path, eventId: event.id as number };
}

test('the counts of a long timeline are exact on every page, within bounds and after each change', async () => {
  const { client, path, eventId } = await withManyEvents(1);
  const counts = async (query = '') => (await client.get(`${path}?limit=1&${query}`)).body.filter_counts;
  const whole = { all_events: EVENTS, type_counts: { note: EVENTS }, source_counts: { api: EVENTS } };
  expect(await counts()).toEqual({ ...whole, tag_counts: { all: EVENTS, third: 399 } });
  expect(await counts('tag=third')).toEqual({ ...whole, tag_counts: { all: EVENTS, third: 399 } });
  expect((await counts('started_to=2026-11-20T00:10:00Z')).tag_counts).toEqual({ all: 10, third: 3 });
  expect((await counts('started_from=2026-11-20T00:10:00Z')).tag_counts).toEqual({ all: EVENTS - 10, third: 396 });

  const changed = { tags: ['changed'] };
  await client.patch(`/api/v1/timeline/${eventId}`, changed, { 'If-Service-Resource-Version': '1' });
  expect((await counts()).tag_counts).toEqual({ all: EVENTS - 1, third: 399, changed: 1 });
  await client.delete(`/api/v1/timeline/${eventId}`);
  expect((await counts()).tag_counts).toEqual({ all: EVENTS - 1, third: 399 });
});

test('a workspace counts one long timeline at a time, and another does not wait for it', async () => {
  const [one, other] = [await withManyEvents(2), await withManyEvents(3)];
  const counting = async () => countWaiting(database, 'timeline_events');
  const unlock = await holdTransaction(database, async (trx) =>
    trx.raw('lock table timeline_events in access exclusive mode'),
  );
  try {
    const pages = Array.from({ length: 3 }, async (_, index) =>
      one.client.get(`${one.path}?started_from=2026-11-20T00:0${index}:00Z`),
    );
    await eventually(async () => (await counting()) === 1, { what: 'the first page' });
    const others = other.client.get(other.path);
    await eventually(async () => (await counting()) >= 2, { what: 'the page of the other workspace' });
    expect(await counting()).toBe(2);
    await unlock();
    await Promise.all([...pages, others]);
  } finally {
    await unlock();
  }
});
