import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Knex, openDatabase } from '@tocsin/postgres';
import { createLogger } from '@tocsin/runtime';
import { createTestDatabase, eventually, type TestDatabase } from '@tocsin/testing';
import { schema } from '../src/schema.ts';
import { FEED_CHANNEL } from '../src/feed/store/feed-writer.ts';
import { type FeedFollower, type RecentEvents, startRecentEvents } from '../src/feed/recent-events.ts';
import { recordIn } from './feed.ts';

let database: TestDatabase;
let writing: Knex;
let reading: Knex;
let recent: RecentEvents;
/** How often a connection was used to read. */
let statements = 0;
beforeAll(async () => {
  database = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
  const open = (application: string) =>
    openDatabase({ url: database.url(schema.name), schema: schema.name, application, poolSize: 5, shared: true });
  writing = open('writing');
  reading = open('reading');
  const client = reading.client as { acquireConnection(): Promise<unknown> };
  const acquire = client.acquireConnection.bind(client);
  client.acquireConnection = async () => {
    statements += 1;
    return acquire();
  };
  recent = startRecentEvents({
    database: reading,
    confirm: async () => undefined,
    listenUrl: database.url(schema.name),
    log: createLogger({ app: 'test', level: 'silent' }),
    checkInterval: 3_600_000,
  });
  await eventually(async () => {
    const { rows } = await writing.raw(
      `select 1 from pg_stat_activity where datname = current_database() and application_name = 'tocsin-webhook-listener'`,
    );
    return rows.length === 1;
  });
  // An event proves that the connection listens, and that the look at all workspaces after the connect is over.
  const [first] = readers(9, 1);
  const noticed = first?.waitBehind(at(0), signal());
  await record(9, 1);
  await noticed;
  first?.leave();
});
afterAll(async () => {
  await recent.stop();
  await Promise.all([writing.destroy(), reading.destroy()]);
  await database.drop();
});

const record = async (workspaceId: number, count: number, body = '{}') =>
  writing.transaction(async (trx) => {
    const events = Array.from({ length: count }, () => ({
      id: crypto.randomUUID(),
      workspaceId,
      type: 'incident.created',
      resource: 'incident:1',
      body,
      isRestricted: false,
    }));
    await recordIn(trx, events, '2026-11-22T00:00:00.000Z');
  });

const query = { types: ['incident.created'], limit: 1_000, seesRestricted: true };
const readers = (workspaceId: number, count: number) => Array.from({ length: count }, () => recent.follow(workspaceId));
const signal = () => new AbortController().signal;
const at = (position: number) => ({ position, mark: '' });
const waitAll = async (followers: readonly FeedFollower[], position: number) =>
  Promise.all(followers.map(async (follower) => follower.waitBehind(at(position), signal())));

test('the events of a workspace are read once for all of its readers, and those of others are not read', async () => {
  const followers = readers(1, 100);
  const waiting = waitAll(followers, 0);
  const before = statements;
  await record(2, 3);
  await record(1, 5);
  await waiting;
  const pages = await Promise.all(followers.map(async (follower) => follower.read({ ...query, after: at(0) })));
  for (const page of pages)
    expect(page).toMatchObject({ place: { position: 5 }, hasMore: false, events: { length: 5 } });
  expect(statements - before).toBe(1);
  for (const follower of followers) follower.leave();
  await record(1, 1);
  expect(statements - before).toBe(1);
});

test('idle readers cost no statements', async () => {
  const followers = [1, 2, 3].flatMap((workspaceId) => readers(100 + workspaceId, 10));
  const before = statements;
  const over = new AbortController();
  const waiting = followers.map(async (follower) => follower.waitBehind(at(0), over.signal));
  over.abort();
  await Promise.all(waiting);
  expect(statements).toBe(before);
  expect(followers.every((follower) => follower.isLatest(at(0)))).toBe(true);
  // The event there may be another one.
  expect(followers.some((follower) => follower.isLatest({ position: 0, mark: 'other' }))).toBe(false);
  for (const follower of followers) follower.leave();
});

test('a reader gets what it wants of a page, and passes the rest', async () => {
  const [follower] = readers(3, 1);
  if (follower === undefined) return;
  const waiting = follower.waitBehind(at(0), signal());
  await record(3, 40);
  await waiting;
  const read = async (more: object) => follower.read({ ...query, after: at(0), ...more });
  expect(await read({})).toMatchObject({ place: { position: 25 }, hasMore: true, events: { length: 25 } });
  expect(await read({ after: at(25) })).toMatchObject({
    place: { position: 40 },
    hasMore: false,
    events: { length: 15 },
  });
  expect(await read({ limit: 10 })).toMatchObject({ place: { position: 10 }, hasMore: true, events: { length: 10 } });
  expect(await read({ types: ['team.changed'] })).toMatchObject({ events: [], place: { position: 25 }, hasMore: true });
  expect(await read({ resource: 'incident:2' })).toMatchObject({ events: [], place: { position: 25 }, hasMore: true });
  follower.leave();
});

test('events that are gone wake the readers, who find out by reading pages', async () => {
  await record(4, 2);
  const [follower] = readers(4, 1);
  if (follower === undefined) return;
  const waiting = follower.waitBehind(at(2), signal());
  await writing.transaction(async (trx) => {
    await trx('feed_workspaces').where({ workspace_id: 4 }).update({ position: 9 });
    await trx.raw('select pg_notify(?, ?)', [FEED_CHANNEL, '4 9 0123456789ab']);
  });
  await waiting;
  expect(await follower.read({ ...query, after: at(2) })).toBeUndefined();
  follower.leave();
});
