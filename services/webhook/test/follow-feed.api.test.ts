import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { QUEUES } from '@tocsin/schemas';
import { MemoryBroker } from '@tocsin/messaging';
import {
  type Answer,
  asUser,
  eventually,
  openEventStream,
  refusal,
  type StreamReader,
  tcpProxy,
  type TestUser,
} from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { envelopeOf, FEED, fill, messageOf, record, startFeedService, type TestEvent, waitingAt } from './feed.ts';

const service = await startFeedService({ overrides: { feedCheckInterval: 3_600_000 } });

const streams: StreamReader[] = [];
/** Each test has a workspace of its own. */
let workspaceId = 0;
beforeEach(() => {
  workspaceId += 1;
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await reaches(0);
});

const userOf = (user: TestUser): TestUser => ({ ...user, workspace: { id: workspaceId, ...user.workspace } });
const read = async (query: Record<string, string> = {}, user: TestUser = {}): Promise<Answer> =>
  service.as(userOf(user)).get(`${FEED}?${new URLSearchParams(query).toString()}`);
const cursorOf = ({ status, body }: Answer): string => {
  expect(status).toBe(200);
  return body.pagination.next_cursor as string;
};
const publish = async (...events: TestEvent[]) =>
  record(service, ...events.map((event) => ({ workspaceId, ...event })));

const reaches = async (count: number, url = service.app.url) =>
  eventually(async () => (await waitingAt(url)) === count, { what: `${count} waiting requests` });

async function stream(
  query: Record<string, string> = {},
  { user = {}, url = service.app.url, headers = {} }: { user?: TestUser; url?: string; headers?: object } = {},
): Promise<StreamReader> {
  const reader = await openEventStream(new URL(`${FEED}?${new URLSearchParams(query).toString()}`, url), {
    ...asUser('webhook', userOf(user)),
    ...headers,
  });
  streams.push(reader);
  return reader;
}

const idsOf = ({ messages }: StreamReader) => messages.map(({ data }) => data.id as string);
const receives = async (reader: StreamReader, ids: readonly string[]) =>
  eventually(() => idsOf(reader).length >= ids.length, { what: `${ids.length} events` }).then(() =>
    expect(idsOf(reader)).toEqual(ids),
  );

describe('a request with wait', () => {
  test('returns what another process records meanwhile', async () => {
    const broker = new MemoryBroker();
    broker.subscribe(QUEUES.incidentReplicas, async () => 'ack');
    await service.startReplica({ broker });
    const after = cursorOf(await read());
    const waiting = read({ after, wait: '20' });
    await reaches(1);
    const event = envelopeOf({ workspaceId, id: 5 });
    await broker.publish([messageOf(event)]);
    const { body } = await waiting;
    expect(body.events).toEqual([event]);
    expect((await read({ after: body.pagination.next_cursor })).body.events).toEqual([]);
    await broker.close();
  });

  test('does not wait if there are events, and begins to wait behind the latest one without a cursor', async () => {
    const [first] = await publish({ id: 1 });
    const { body } = await read({ from: 'beginning', wait: '20' });
    expect(body.events).toEqual([expect.objectContaining({ id: first })]);
    const waiting = read({ wait: '20' });
    await reaches(1);
    const [second] = await publish({ id: 2 });
    expect((await waiting).body.events).toEqual([expect.objectContaining({ id: second })]);
  });

  test('returns an empty page when the time is over, behind the events that were not for it', async () => {
    const after = cursorOf(await read());
    const waiting = read({ after, wait: '1', types: 'team.changed' });
    await reaches(1);
    const skipped = await publish({ id: 1 }, { id: 2 });
    const page = await waiting;
    expect(page.body).toMatchObject({ events: [], pagination: { has_more: false } });
    const next = cursorOf(page);
    expect((await read({ after: next })).body.events).toEqual([]);
    expect((await read({ after })).body.events.map(({ id }: { id: string }) => id)).toEqual(skipped);
  });

  test('returns the events of the resource and the scopes that it asks for', async () => {
    const waiting = [
      read({ wait: '20', resource: 'incident:2' }),
      read({ wait: '20' }, { scopes: ['teams:read'] }),
      read({ wait: '20', types: 'incident.updated,team.changed', limit: '1' }),
    ];
    await reaches(3);
    const ids = await publish({ id: 1 }, { id: 2 }, { id: 3, type: 'team.changed' }, { id: 2, type: 'team.changed' });
    const [ofResource, ofScope, ofTypes] = await Promise.all(waiting);
    const eventsOf = ({ body }: Answer) => body.events.map(({ id }: { id: string }) => id);
    expect(eventsOf(ofResource!)).toEqual([ids[1]]);
    expect(eventsOf(ofScope!)).toEqual([ids[2], ids[3]]);
    expect(eventsOf(ofTypes!)).toEqual([ids[2]]);
    expect(ofTypes!.body.pagination.has_more).toBe(true);
    expect(eventsOf(await read({ after: cursorOf(ofTypes!) }))).toEqual([ids[3]]);
  });

  test.each(['-1', '21', '1.5', 'x', ''])('is refused for %j', async (wait) => {
    expect(await read({ wait })).toMatchObject(refusal(400, 'invalid_request', { field: 'wait' }));
  });

  test('has no effect on a HEAD request', async () => {
    const response = await fetch(new URL(`${FEED}?wait=20`, service.app.url), {
      method: 'HEAD',
      headers: { ...asUser('webhook') },
    });
    expect(response.status).toBe(200);
  });
});

describe('a stream', () => {
  test('sends the events behind a cursor and then those that are recorded, each with its cursor', async () => {
    const after = cursorOf(await read());
    const ids = await publish({ id: 1 }, { id: 2, title: 'Line\n\nbreaks' });
    const reader = await stream({ after });
    await receives(reader, ids);
    ids.push(...(await publish({ id: 3, type: 'team.changed' })));
    await receives(reader, ids);
    expect(reader.messages.map(({ event }) => event)).toEqual(['incident.created', 'incident.created', 'team.changed']);
    expect(reader.messages[1]?.data.data.incident.title).toBe('Line\n\nbreaks');
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    });
    // The ID of a message is a cursor of the feed.
    const [, { id: second } = { id: '' }] = reader.messages;
    expect((await read({ after: second })).body.events).toEqual([expect.objectContaining({ id: ids[2] })]);
  });

  test('begins behind the latest event, and says where, before there is any', async () => {
    await publish({ id: 1 });
    const reader = await stream();
    await eventually(() => reader.lastEventId, { what: 'the first position' });
    expect(reader.text).toMatch(/^retry: \d+\n\nid: \S+\n\n$/);
    const after = reader.lastEventId!;
    const [id] = await publish({ id: 2 });
    expect((await read({ after })).body.events).toEqual([expect.objectContaining({ id })]);
    await receives(reader, [id!]);
  });

  test('sends each reader what it asks for and may read', async () => {
    const all = await stream();
    const teams = await stream({}, { user: { scopes: ['teams:read'] } });
    const incident = await stream({ resource: 'incident:2' });
    const nothing = await stream({ types: 'team.changed' }, { user: { scopes: ['services:read'] } });
    const ids = await publish(
      { id: 1 },
      { id: 2, type: 'incident.updated' },
      { id: 2, type: 'team.changed' },
      { id: 7, type: 'service.changed' },
    );
    await receives(all, ids);
    await receives(teams, [ids[2]!]);
    await receives(incident, [ids[1]!]);
    expect(nothing.messages).toEqual([]);
    const others = await stream({}, { user: { workspace: { id: 9_999 } } });
    const [id] = await publish({ id: 3, workspaceId: 9_999 });
    await receives(others, [id!]);
    expect(idsOf(all)).toEqual(ids);
  });

  test('continues behind Last-Event-ID, whatever the parameters say', async () => {
    const ids = await publish({ id: 1 }, { id: 2 }, { id: 3 });
    const whole = await stream({ from: 'beginning' });
    await receives(whole, ids);
    const [first] = whole.messages;
    for (const query of [{ from: 'beginning' }, { after: whole.lastEventId! }, {}] as Record<string, string>[]) {
      const reader = await stream(query, { headers: { 'Last-Event-ID': first?.id } });
      await receives(reader, ids.slice(1));
      reader.close();
    }
    const empty = await stream({ after: first!.id }, { headers: { 'Last-Event-ID': '' } });
    await receives(empty, ids.slice(1));
  });

  test('reads a long feed page after page', async () => {
    await fill(service, { workspaceId, count: 180 });
    const reader = await stream({ from: 'beginning' });
    await eventually(() => reader.messages.length === 180, { what: 'all events' });
    expect(new Set(idsOf(reader)).size).toBe(1);
    expect(new Set(reader.messages.map(({ id }) => id)).size).toBe(180);
    const [id] = await publish({ id: 2 });
    await eventually(() => idsOf(reader).at(-1) === id, { what: 'the next event' });
  });

  test('begins with an ordinary error if it cannot begin', async () => {
    const open = async (path: string, headers: Record<string, string> = {}, user: TestUser = {}) =>
      service.as(userOf(user)).get(path, { Accept: 'text/event-stream', ...headers });
    expect(await open(`${FEED}?after=x`)).toMatchObject({ status: 400, body: { field: 'after' } });
    expect(await open(`${FEED}?type=x`)).toMatchObject({ status: 400, body: { field: 'type' } });
    expect(await open(FEED, { 'Last-Event-ID': 'x'.repeat(10_000) })).toMatchObject(
      refusal(400, 'invalid_request', { field: 'Last-Event-ID' }),
    );
    expect(await open(FEED, {}, { scopes: ['webhooks:manage'] })).toMatchObject(refusal(403, 'missing_scope'));
    const after = cursorOf(await read());
    await publish({ id: 1 });
    await service.knex('feed_workspaces').where({ workspace_id: workspaceId }).update({ swept: 1 });
    expect(await open(FEED, { 'Last-Event-ID': after })).toMatchObject(
      refusal(410, 'cursor_expired', { field: 'Last-Event-ID' }),
    );
    expect(await waitingAt(service.app.url)).toBe(0);
  });

  test('that is cut at any point is continued without a gap and without a repetition', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 3, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 5, maxLength: 15 }),
        async (cuts, batches) => {
          workspaceId += 1;
          const after = cursorOf(await read());
          const proxy = await tcpProxy(service.app.url);
          const recording = (async () => {
            const ids: string[] = [];
            for (const size of batches) {
              const events = Array.from({ length: size }, (_, index) => ({ id: ids.length + index + 1 }));
              ids.push(...(await publish(...events)));
            }
            return ids;
          })();
          const received: string[] = [];
          let lastEventId: string | undefined;
          const readFrom = async (url: string, until: (reader: StreamReader) => Promise<unknown>) => {
            const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
            // The head of the response may be cut, too.
            const reader = await stream({ after }, { url, headers }).catch(() => undefined);
            if (reader === undefined) return;
            await until(reader);
            received.push(...idsOf(reader));
            lastEventId = reader.lastEventId ?? lastEventId;
            reader.close();
          };
          for (const bytes of cuts) {
            proxy.restore();
            void proxy.stallAfter(bytes).then(proxy.cut);
            // A stream that is idle is not cut by the proxy.
            await readFrom(proxy.url, async ({ ended }) =>
              Promise.race([ended, recording.then(async () => delay(50))]),
            );
          }
          const ids = await recording;
          await readFrom(service.app.url, async ({ messages }) =>
            eventually(() => received.length + messages.length >= ids.length, { what: 'all events' }),
          );
          expect(received).toEqual(await recording);
          await proxy.close();
        },
      ),
      { numRuns: 6 },
    );
  });
});

describe('waiting readers', () => {
  test('free their places when they go away', async () => {
    await stream();
    const abort = new AbortController();
    const poll = fetch(new URL(`${FEED}?wait=20`, service.app.url), {
      headers: { ...asUser('webhook', userOf({})) },
      signal: abort.signal,
    }).catch(() => 'aborted');
    await reaches(2);
    abort.abort();
    expect(await poll).toBe('aborted');
    await reaches(1);
  });

  test('are at most 100 in a workspace', async () => {
    for (let count = 0; count < 99; count += 1) await stream();
    const poll = read({ wait: '20' });
    await reaches(100);
    const refused = await stream();
    expect(refused.response.statusCode).toBe(429);
    expect(await read({ wait: '1' })).toMatchObject(
      refusal(429, 'rate_limited', { details: { limit: 'waiting_requests', retry_after_seconds: 5 } }),
    );
    // Reads that do not wait, and those of another workspace.
    expect((await read()).status).toBe(200);
    const other = { workspace: { id: workspaceId + 1_000 } };
    expect((await stream({}, { user: other })).response.statusCode).toBe(200);
    const [id] = await publish({ id: 1 });
    for (const reader of streams.slice(0, 99)) await receives(reader, [id!]);
    expect((await poll).body.events).toHaveLength(1);
    expect((await stream()).response.statusCode).toBe(200);
  });

  test('do not keep a process that stops', async () => {
    const replica = await service.startReplica();
    const reader = await stream({}, { url: replica.url });
    const poll = fetch(new URL(`${FEED}?wait=20`, replica.url), { headers: { ...asUser('webhook', userOf({})) } });
    await reaches(2, replica.url);
    await replica.stop();
    expect(await reader.ended).toBe(true);
    const body = (await (await poll).json()) as { events: unknown[] };
    expect(body.events).toEqual([]);
  });
});

describe('notifications of new events', () => {
  const countListeners = async () => {
    const { rows } = await service.knex.raw(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and application_name = 'tocsin-webhook-listener'`,
    );
    return rows[0].count as number;
  };

  test('reach the readers after the connection for them is lost', async () => {
    const replica = await service.startReplica({ feedCheckInterval: 3_600_000 });
    const reader = await stream({}, { url: replica.url });
    await eventually(async () => (await countListeners()) >= 2, { what: 'the listeners' });
    await service.knex.raw(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'tocsin-webhook-listener'`,
    );
    // Recorded while nobody listens, perhaps, and afterwards.
    const ids = await publish({ id: 1 });
    await receives(reader, ids);
    await eventually(async () => (await countListeners()) >= 2, { what: 'the listeners' });
    ids.push(...(await publish({ id: 2 })));
    await receives(reader, ids);
    await replica.stop();
  });

  test('that are lost only delay the events', async () => {
    const replica = await service.startReplica({ feedCheckInterval: 100 });
    const reader = await stream({}, { url: replica.url });
    const poll = fetch(new URL(`${FEED}?wait=20`, replica.url), { headers: { ...asUser('webhook', userOf({})) } });
    await reaches(2, replica.url);
    // Without a notification.
    await fill(service, { workspaceId, count: 3 });
    await eventually(() => reader.messages.length === 3, { what: 'the events' });
    expect(((await (await poll).json()) as { events: unknown[] }).events).toHaveLength(3);
    await replica.stop();
  });
});
