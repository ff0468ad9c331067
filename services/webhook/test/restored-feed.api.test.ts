import { beforeEach, describe, expect, test } from '@jest/globals';
import { asUser, eventually, openEventStream } from '@tocsin/testing';
import { clearFeed, FEED, fill, record, startFeedService, waitingAt } from './feed.ts';

const service = await startFeedService();
beforeEach(async () => clearFeed(service));

const read = async (query: string) => service.as().get(`${FEED}?${query}`);
const cursorOf = async (query = 'from=now'): Promise<string> => (await read(query)).body.pagination.next_cursor;
const idsOf = ({ body }: { body: { events: { id: string }[] } }) => body.events.map(({ id }) => id);
/** Makes the feed what it was before its last events, as a backup or a standby that did not get them has it. */
const lose = async (count: number) => {
  await service.knex.raw('delete from feed_events where position > (select max(position) - ? from feed_events)', [
    count,
  ]);
  await service.knex.raw('update feed_workspaces set position = (select coalesce(max(position), 0) from feed_events)');
};
/** Moves the feed into tables of another database. */
const move = async () => {
  for (const table of ['feed_events', 'feed_workspaces']) {
    await service.knex.raw(`alter table ${table} rename to ${table}_before`);
    await service.knex.raw(`create table ${table} (like ${table}_before including all)`);
    await service.knex.raw(`insert into ${table} table ${table}_before`);
    await service.knex.raw(`drop table ${table}_before`);
  }
};

describe('a cursor of a database that was restored, or whose standby was promoted,', () => {
  test('leads on if the feed has what it has passed', async () => {
    await record(service, { id: 1 }, { id: 2 });
    const cursor = await cursorOf('from=beginning&limit=1');
    const end = await cursorOf();
    await move();
    const [third] = await record(service, { id: 3 });
    expect(idsOf(await read(`after=${cursor}`))).toEqual([expect.any(String), third]);
    expect(idsOf(await read(`after=${end}`))).toEqual([third]);
  });

  test('leads on behind the events that were lost', async () => {
    const beginning = await cursorOf();
    const [first] = await record(service, { id: 1 }, { id: 2 });
    const cursor = await cursorOf('from=beginning&limit=1');
    await lose(1);
    const [other] = await record(service, { id: 3 });
    expect(idsOf(await read(`after=${cursor}`))).toEqual([other]);
    expect(idsOf(await read(`after=${beginning}`))).toEqual([first, other]);
  });

  const isLost = async (cursor: string, query = '') => {
    const { status, body } = await read(`after=${cursor}${query}`);
    expect([status, body.code, body.field]).toEqual([410, 'cursor_expired', 'after']);
    expect(body.message).toContain('this database has lost, because it was restored');
  };

  test('is 410 if it has passed events that were lost, before and after their positions are given again', async () => {
    await record(service, { id: 1 }, { id: 2 });
    const cursor = await cursorOf();
    await lose(1);
    await isLost(cursor);
    await isLost(cursor, '&wait=1');
    await record(service, { id: 3 });
    await isLost(cursor);
    await isLost(cursor, '&wait=1');
    await record(service, { id: 4 });
    await isLost(cursor, '&types=team.changed');
  });

  test('is 410 for a stream, too', async () => {
    await record(service, { id: 1 });
    const cursor = await cursorOf();
    await lose(1);
    await record(service, { id: 2 });
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': cursor };
    const { status, body } = await service.as().get(FEED, headers);
    expect([status, body.code, body.field]).toEqual([410, 'cursor_expired', 'Last-Event-ID']);
  });

  test('is 410 for a request that waits while the events are lost, and ends a stream', async () => {
    await record(service, { id: 1 }, { id: 2 });
    const cursor = await cursorOf();
    const stream = await openEventStream(new URL(`${FEED}?after=${cursor}`, service.app.url), asUser('webhook', {}));
    const waiting = read(`after=${cursor}&wait=20`);
    await eventually(async () => (await waitingAt(service.app.url)) === 2, { what: 'two readers who wait' });
    await lose(1);
    // Positions are given again: one that both have passed, and one behind it.
    await record(service, { id: 3 });
    await record(service, { id: 4 });
    const { status, body } = await waiting;
    expect([status, body.code]).toEqual([410, 'cursor_expired']);
    await stream.ended;
    expect(stream.messages).toEqual([]);
  });
});

test('a cursor at the end of a feed whose events are all deleted leads on', async () => {
  await fill(service, { count: 3 });
  const end = await cursorOf();
  await service.knex.raw('delete from feed_events');
  await service.knex.raw('update feed_workspaces set swept = position');
  const later = await cursorOf();
  const [next] = await record(service, { id: 9 });
  for (const cursor of [end, later]) expect(idsOf(await read(`after=${cursor}`))).toEqual([next]);
});
