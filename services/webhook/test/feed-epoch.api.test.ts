import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import pg from 'pg';
import { newFeedEpoch } from '../src/administration.ts';
import { feedEpoch } from '../src/feed/feed-epoch.ts';
import { clearFeed, FEED, record, startFeedService } from './feed.ts';

const service = await startFeedService();
const administrator = new pg.Client({ connectionString: service.database.adminUrl });
await administrator.connect();
afterAll(async () => administrator.end());
beforeEach(async () => {
  await clearFeed(service);
  await service.knex.raw('truncate feed_epoch');
});

const log = createLogger({ app: 'test', level: 'silent' });
/** The epoch as a process that has just started sees it. */
const check = async () => feedEpoch({ database: service.knex, log }).check();
const stored = async () => service.knex('feed_epoch').first('epoch', 'fingerprint');
/** Changes parts of the stored fingerprint, as if the database had become another one since. */
const change = async (parts: object) =>
  service
    .knex('feed_epoch')
    .update({ fingerprint: service.knex.raw('fingerprint || ?::jsonb', [JSON.stringify(parts)]) });

test('the epoch stays the same while the database is the same', async () => {
  const epoch = await check();
  expect(epoch).toMatch(/^[0-9a-f-]{36}$/);
  expect(await check()).toBe(epoch);
  expect((await stored())?.fingerprint).toEqual({
    system: expect.stringMatching(/^\d+$/),
    timeline: expect.stringMatching(/^[0-9A-F]{8}$/),
    database: expect.any(Number),
    table: expect.any(Number),
  });
});

test('processes that start at the same time agree on the first epoch', async () => {
  const epochs = await Promise.all(Array.from({ length: 6 }, check));
  expect(new Set(epochs).size).toBe(1);
});

test.each([
  ['another cluster', { system: '1' }],
  ['a recovery or a promotion', { timeline: '0000002A' }],
  ['another database of the cluster', { database: 1 }],
  ['a dump that was restored into new tables', { table: 1 }],
])('%s begins a new epoch, and processes that notice it at the same time agree on it', async (_, parts) => {
  const before = await check();
  await change(parts);
  const epochs = await Promise.all(Array.from({ length: 6 }, check));
  expect(new Set(epochs).size).toBe(1);
  expect(epochs[0]).not.toBe(before);
  expect(await check()).toBe(epochs[0]);
});

describe('a cursor', () => {
  const read = async (query: string) => service.as().get(`${FEED}?${query}`);
  /** The process looks at the fingerprint again within a second. */
  const readUntil = async (query: string, status: number) =>
    eventually(
      async () => {
        const answer = await read(query);
        return answer.status === status && answer;
      },
      { what: `status ${status}` },
    );

  test('of another epoch has expired, and a new one leads on', async () => {
    await record(service, { id: 1 });
    const { body } = await read('from=now');
    const cursor: string = body.pagination.next_cursor;
    // The feed's table as a restored dump has it.
    await service.knex.raw('alter table feed_events rename to feed_events_old');
    await service.knex.raw('create table feed_events (like feed_events_old including all)');
    await service.knex.raw('insert into feed_events table feed_events_old');
    await service.knex.raw('drop table feed_events_old');
    const refused = await readUntil(`after=${cursor}`, 410);
    expect([refused.body.code, refused.body.field]).toEqual(['cursor_expired', 'after']);
    const { body: fresh } = await read('from=now');
    const [next] = await record(service, { id: 2 });
    const page = await read(`after=${fresh.pagination.next_cursor}`);
    expect(page.body.events.map(({ id }: { id: string }) => id)).toEqual([next]);
  });

  test('expires when an administrator begins a new epoch', async () => {
    const { body } = await readUntil('from=now', 200);
    await newFeedEpoch(service.knex);
    const refused = await readUntil(`after=${body.pagination.next_cursor}`, 410);
    expect(refused.body.code).toBe('cursor_expired');
  });

  test('behind what a restored database has is expired, even before the new epoch', async () => {
    await record(service, { id: 1 }, { id: 2 });
    const { body } = await read('from=now');
    await service.knex('feed_events').where('position', 2).delete();
    await service.knex('feed_workspaces').update({ position: 1 });
    expect((await read(`after=${body.pagination.next_cursor}`)).body.code).toBe('cursor_expired');
  });
});

describe('a role that may not read the state of the cluster', () => {
  const FUNCTIONS = ['pg_control_system()', 'pg_current_wal_lsn()', 'pg_walfile_name(pg_lsn)'];
  afterEach(async () => {
    for (const name of FUNCTIONS) await administrator.query(`grant execute on function ${name} to public`);
  });

  test('still notices new tables, and keeps its epoch when it gets the privilege', async () => {
    for (const name of FUNCTIONS) await administrator.query(`revoke execute on function ${name} from public`);
    const epoch = await check();
    expect((await stored())?.fingerprint).toMatchObject({ system: null, timeline: null });
    expect(await check()).toBe(epoch);

    for (const name of FUNCTIONS) await administrator.query(`grant execute on function ${name} to public`);
    expect(await check()).toBe(epoch);
    expect((await stored())?.fingerprint).toMatchObject({ system: expect.any(String), timeline: expect.any(String) });

    // Losing it again changes nothing, and other tables are noticed.
    for (const name of FUNCTIONS) await administrator.query(`revoke execute on function ${name} from public`);
    expect(await check()).toBe(epoch);
    await change({ table: 1 });
    expect(await check()).not.toBe(epoch);
  });
});
