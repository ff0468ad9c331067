import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/schemas';
import { type Knex, openDatabase } from '@tocsin/postgres';
import { createMetrics } from '@tocsin/runtime';
import { eventually, refusal } from '@tocsin/testing';
import pg from 'pg';
import { FEED_CHANNEL, type IncomingEvent } from '../src/feed/store/feed-writer.ts';
import { clockTime } from '../src/shared/store/time.ts';
import { feedMetrics } from '../src/feed/feed-metrics.ts';
import { readFeed } from '../src/feed/read-feed.ts';
import { sweepFeed } from '../src/feed/sweep-feed.ts';
import { feedTrimming } from '../src/feed/trim-feeds.ts';
import { clearFeed, envelopeOf, FEED, messageOf, record, recordIn, startFeedService } from './feed.ts';

const DAY = 24 * 3_600_000;

const service = await startFeedService({ settings: { WEBHOOK_FEED_RETENTION_DAYS: '7' } });
beforeEach(async () => clearFeed(service));

interface RecordedRow {
  workspace_id: number;
  position: number;
  event_id: string;
  recorded_at: string;
}

const rows = async (): Promise<RecordedRow[]> =>
  service
    .knex('feed_events')
    .orderBy(['workspace_id', 'position'])
    .select<RecordedRow[]>('workspace_id', 'position', 'event_id', 'recorded_at');

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${service.app.url}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)?.[1] ?? NaN);
};

describe('an event', () => {
  test('is recorded once, however often and with whatever others it is delivered', async () => {
    const [one, two, three] = [envelopeOf({ id: 1 }), envelopeOf({ id: 2 }), envelopeOf({ id: 3 })].map(messageOf);
    await service.broker.publish([one!, two!]);
    await service.broker.publish([two!]);
    await service.broker.publish([two!, three!, one!]);
    expect((await rows()).map(({ event_id: id, position }) => [id, position])).toEqual([
      [one!.id, 1],
      [two!.id, 2],
      [three!.id, 3],
    ]);
  });

  test('is recognised for as long as the feed has it, not only as long as the inbox', async () => {
    const message = messageOf(envelopeOf());
    await service.broker.publish([message]);
    await service.knex('inbox').delete();
    await service.broker.publish([message]);
    expect(await rows()).toHaveLength(1);
  });

  test('with the ID of an event of another workspace is another event', async () => {
    const eventId = randomUUID();
    await record(service, { eventId, workspaceId: 1 });
    await record(service, { eventId, workspaceId: 2 });
    expect(await rows()).toHaveLength(2);
  });

  test('that is malformed becomes a dead letter, and the others of its batch are recorded', async () => {
    const good = [envelopeOf({ id: 1 }), envelopeOf({ id: 2 })].map(messageOf);
    const bad = { id: randomUUID(), type: 'incident.created', body: '{"id":' };
    const [first, second, third] = await service.broker.publish([good[0]!, bad, good[1]!]);
    expect([first, third]).toEqual(['confirmed', 'confirmed']);
    expect(second).toMatchObject({
      deadLetters: expect.arrayContaining([{ queue: QUEUES.webhookFeed.name, reason: 'rejected' }]),
    });
    expect((await rows()).map(({ event_id: id }) => id)).toEqual(good.map(({ id }) => id));
  });

  test('is never recorded at an earlier time than the one before it, whatever the clock does', async () => {
    await record(service, { id: 1 });
    service.clock.advance(-3_600_000);
    await record(service, { id: 2 });
    service.clock.advance(3_600_000);
    const [one, two] = await rows();
    expect(two!.recorded_at).toBe(one!.recorded_at);
  });

  test('shows its age in the metrics', async () => {
    await record(service, { id: 1 });
    service.clock.advance(90_000);
    expect(await metric('tocsin_feed_age_seconds')).toBe(90);
  });
});

describe('concurrent batches', () => {
  let writers: Knex;
  beforeEach(() => {
    writers = openDatabase({ url: databaseUrl(), schema: 'webhook', application: 'test', poolSize: 8 });
  });
  afterEach(async () => writers.destroy());

  const databaseUrl = () => service.database.url('webhook');
  const incoming = (workspaceId: number): IncomingEvent => ({
    id: randomUUID(),
    workspaceId,
    type: 'incident.created',
    resource: 'incident:1',
    body: JSON.stringify(envelopeOf({ workspaceId })),
    isRestricted: false,
  });

  test('neither deadlock nor leave gaps, and a reader that follows gets each event once, in the order of positions', async () => {
    const WORKSPACES = [1, 2, 3];
    const batches = Array.from({ length: 60 }, (_, index) =>
      Array.from({ length: 9 }, (_unused, nth) => incoming(WORKSPACES[(index + nth * (index % 2 === 0 ? 1 : 2)) % 3]!)),
    );
    const now = service.clock.now();
    const queue = [...batches];
    let isDone = false;
    const write = async () => {
      for (let batch = queue.pop(); batch !== undefined; batch = queue.pop()) {
        const events = batch;
        await writers.transaction(async (trx) => {
          await recordIn(trx, events, now);
          // Transactions that end in another order than they began.
          await trx.raw('select pg_sleep(?)', [(events[0]!.id.charCodeAt(0) % 5) / 1_000]);
        });
      }
    };
    const follow = async (workspaceId: number) => {
      const seen: number[] = [];
      for (let place = { position: 0, mark: '' }, wasDone = false; !wasDone;) {
        wasDone = isDone;
        const filter = { types: ['incident.created'], workspaceId, limit: 7, seesRestricted: true };
        for (let hasMore = true; hasMore;) {
          const page = await readFeed(
            { database: service.knex, confirm: async () => undefined },
            { ...filter, after: place },
          );
          seen.push(...page.events.map((event) => event.position));
          ({ place, hasMore } = page);
        }
      }
      return seen;
    };
    const followers = WORKSPACES.map(follow);
    await Promise.all(Array.from({ length: 6 }, write));
    isDone = true;
    for (const [index, workspaceId] of WORKSPACES.entries()) {
      const recorded = (await rows()).filter(({ workspace_id: id }) => id === workspaceId);
      expect(recorded.map(({ position }) => position)).toEqual(recorded.map((_, nth) => nth + 1));
      expect(await followers[index]).toEqual(recorded.map(({ position }) => position));
    }
    expect(new Set((await rows()).map(({ event_id: id }) => id)).size).toBe(540);
  });
});

test('each batch notifies once for each workspace, with the place behind its latest event, after the commit', async () => {
  const client = new pg.Client({ connectionString: service.database.url('webhook') });
  await client.connect();
  try {
    const payloads: string[] = [];
    client.on('notification', ({ payload }) => payloads.push(payload ?? ''));
    await client.query(`listen ${FEED_CHANNEL}`);
    await record(service, { workspaceId: 7 }, { workspaceId: 8 }, { workspaceId: 7 });
    await eventually(() => payloads.length >= 2);
    await record(service, { workspaceId: 7 });
    await eventually(() => payloads.length >= 3);
    const placeOf = (payload: string) => payload.split(' ').slice(0, 2).join(' ');
    expect(payloads.map(placeOf).toSorted()).toEqual(['7 2', '7 3', '8 1']);
    const rolledBack = service.knex.transaction(async (trx) => {
      const event = {
        id: randomUUID(),
        workspaceId: 9,
        type: 'incident.created',
        resource: 'incident:1',
        body: '{}',
        isRestricted: false,
      };
      await recordIn(trx, [event], service.clock.now());
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    const [last] = await record(service, { workspaceId: 7 });
    await eventually(() => payloads.includes(`7 4 ${last?.slice(-12)}`));
    expect(payloads.map(placeOf)).not.toContain('9 1');
  } finally {
    await client.end();
  }
});

describe('the retention', () => {
  const sweep = async (): Promise<boolean> => {
    const time = clockTime(service.clock);
    const metrics = feedMetrics({ registry: createMetrics('test'), database: service.knex, time });
    return sweepFeed({ database: service.knex, time, metrics, retentionDays: 7 });
  };
  const read = async (query: string) => service.as().get(`${FEED}?${query}`);
  const cursorOf = async (query = 'from=now') => (await read(query)).body.pagination.next_cursor as string;

  test('deletes old events, whose cursors then expire', async () => {
    const start = await cursorOf();
    await record(service, { id: 1 }, { id: 2 });
    const middle = await cursorOf();
    service.clock.advance(7 * DAY);
    const [late] = await record(service, { id: 3 });
    expect(await sweep()).toBe(false);
    expect((await read(`after=${start}`)).body.events).toHaveLength(3);

    service.clock.advance(1);
    expect(await sweep()).toBe(true);
    expect(await sweep()).toBe(false);
    expect((await rows()).map(({ position }) => position)).toEqual([3]);
    const { status, body } = await read(`after=${start}`);
    expect([status, body.code, body.field]).toEqual([410, 'cursor_expired', 'after']);
    for (const query of [`after=${middle}`, 'from=beginning']) {
      expect((await read(query)).body.events.map(({ id }: { id: string }) => id)).toEqual([late]);
    }
  });

  test('of everything leaves a feed that goes on at the next position', async () => {
    await record(service, { id: 1 }, { id: 2 });
    const end = await cursorOf();
    service.clock.advance(8 * DAY);
    await sweep();
    expect(await rows()).toEqual([]);
    const beginning = await read('from=beginning');
    expect(beginning.body).toMatchObject({ events: [], pagination: { has_more: false } });
    const [next] = await record(service, { id: 3 });
    for (const cursor of [end, beginning.body.pagination.next_cursor]) {
      expect((await read(`after=${cursor}`)).body.events.map(({ id }: { id: string }) => id)).toEqual([next]);
    }
    expect((await rows()).map(({ position }) => position)).toEqual([3]);
  });

  test('holds the feeds of a few workspaces at a time, so that the others are recorded meanwhile', async () => {
    const workspaces = Array.from({ length: 60 }, (_, index) => index + 1);
    await record(service, ...workspaces.map((workspaceId) => ({ workspaceId })));
    service.clock.advance(8 * DAY);
    // Another process records events of the first workspace and does not finish.
    const other = new pg.Client({ connectionString: service.database.url('webhook') });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select position from webhook.feed_workspaces where workspace_id = 1 for update');
      const sweeping = sweep();
      await eventually(async () => (await rows()).length <= 20, { what: 'the deletion in other workspaces' });
      await record(service, { workspaceId: 60 });
      await other.query('commit');
      expect(await sweeping).toBe(true);
    } finally {
      await other.end();
    }
    expect((await rows()).map(({ workspace_id: id, position }) => [id, position])).toEqual([[60, 2]]);
  });
});

describe('the bytes of a feed', () => {
  test('are bounded: the oldest events go, their cursors expire, and other workspaces keep theirs', async () => {
    const metrics = feedMetrics({
      registry: createMetrics('test'),
      database: service.knex,
      time: clockTime(service.clock),
    });
    const trimming = feedTrimming({ database: service.knex, metrics, maxBytes: 20_000 });
    const read = async (workspaceId: number, query: string) =>
      service.as({ workspace: { id: workspaceId } }).get(`${FEED}?${query}`);
    const { pagination } = (await read(1, 'from=now')).body;
    const ids: string[] = [];
    for (let count = 0; count < 10; count += 1) {
      ids.push(...(await record(service, { title: 'x'.repeat(200) }, { title: 'y'.repeat(1_500) })));
    }
    const others = await record(service, { workspaceId: 2 });
    trimming.recorded([1, 2]);
    while (await trimming.trim());

    const left = (await read(1, 'from=beginning')).body.events;
    expect(left.map(({ id }: { id: string }) => id)).toEqual(ids.slice(-left.length));
    const bytes = left.reduce((sum: number, event: object) => sum + JSON.stringify(event).length, 0);
    expect(bytes).toBeLessThan(20_000);
    expect(bytes).toBeGreaterThan(10_000);
    expect(await read(1, `after=${pagination.next_cursor}`)).toMatchObject(refusal(410, 'cursor_expired'));
    expect((await read(2, 'from=beginning')).body.events.map(({ id }: { id: string }) => id)).toEqual(others);
  });

  test('are counted for as long as the feed has the events', async () => {
    await record(service, { title: 'x'.repeat(60_000) }, { workspaceId: 2 });
    await record(service, { title: 'x'.repeat(60_000) });
    const [own] = await service
      .knex('feed_workspaces')
      .where({ workspace_id: 1 })
      .select<{ recorded_bytes: number }[]>('recorded_bytes');
    expect(own?.recorded_bytes).toBeGreaterThan(120_000);
    expect(own?.recorded_bytes).toBeLessThan(125_000);
    const counts = await service
      .knex('feed_events')
      .where({ workspace_id: 1 })
      .orderBy('position')
      .select<{ recorded_bytes: number }[]>('recorded_bytes');
    expect(counts.at(-1)).toEqual(own);
    expect(counts[0]?.recorded_bytes).toBeLessThan(63_000);
  });
});
