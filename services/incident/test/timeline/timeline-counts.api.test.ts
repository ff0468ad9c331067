import { expect, test } from '@jest/globals';
import { eventually, holdTransaction } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';

const EVENTS = 1_200;
const service = await serviceForFile();
const { knex: database } = service;

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
  const counts = async (query = '') => {
    const { body } = await client.get(`${path}?limit=1&${query}`);
    // Now its counts are kept.
    expect((await client.get(`${path}?limit=1&${query}`)).body).toEqual(body);
    return body.filter_counts;
  };
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

/** A statement that reads an event of a timeline waits as long as somebody has this advisory lock. */
const READING = 4711;

/** Makes every event have an attachment, and statements that look for it wait for `READING`. Others do not wait. */
async function makeReadingWait(): Promise<void> {
  const statements = [
    `insert into timeline_attachments
       (workspace_id, timeline_event_id, filename, content_type, size_bytes, created_at, created_by)
     select workspace_id, id, 'log.txt', 'text/plain', 1, now(), 'Sam' from timeline_events`,
    `create function may_read() returns boolean language plpgsql as
     $$ begin perform pg_advisory_xact_lock_shared(${READING}); return true; end $$`,
    'alter table timeline_attachments rename to all_attachments',
    `create view timeline_attachments as
     select workspace_id, id, timeline_event_id, filename, storage_key, content_type, size_bytes, created_at, created_by
     from all_attachments where may_read()`,
  ];
  for (const statement of statements) await database.raw(statement);
}

async function countWaitingReads(): Promise<number> {
  const { rows } = await database.raw<{ rows: [{ count: number }] }>(
    "select count(*)::integer as count from pg_locks where not granted and locktype = 'advisory' and objid = ?",
    [READING],
  );
  return rows[0].count;
}

test('a workspace counts one long timeline at a time, and another does not wait for it', async () => {
  const [one, other] = [await withManyEvents(2), await withManyEvents(3)];
  await makeReadingWait();
  const unlock = await holdTransaction(database, async (trx) => trx.raw('select pg_advisory_xact_lock(?)', [READING]));
  try {
    const pages = Array.from({ length: 3 }, async (_, index) =>
      one.client.get(`${one.path}?started_from=2026-11-20T00:0${index}:00Z`),
    );
    await eventually(async () => (await countWaitingReads()) > 0, { what: 'the first page' });
    const others = other.client.get(other.path);
    await eventually(async () => (await countWaitingReads()) >= 2, { what: 'the page of the other workspace' });
    expect(await countWaitingReads()).toBe(2);
    await unlock();
    await Promise.all([...pages, others]);
  } finally {
    await unlock();
  }
});
