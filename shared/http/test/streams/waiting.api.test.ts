import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { asUser, eventually, httpClient, openEventStream, serve, testApp } from '@tocsin/testing';
import { closedAfterEach } from '@tocsin/testing/suites';
import { z } from 'zod';
import {
  type Contracts,
  DomainError,
  endpoint,
  type HttpServer,
  implement,
  PRINCIPAL_HEADER,
  type ServerSentEvent,
  type StreamPart,
  type UnsentBytes,
  unsentBytes,
  type WaitingRequest,
  leaseToWait,
  type WaitingLeases,
  waitingLeases,
} from '../../src/index.ts';

const PATH = '/letters';
const contracts = {
  readLetters: {
    ...endpoint('GET', PATH, 'Read letters'),
    tag: 'Letters',
    scope: 'teams:read',
    errors: ['precondition_failed'],
    query: z.strictObject({ fail: z.boolean().optional(), wait: z.int().optional() }),
    wait: 20_000,
    reply: { status: 200, body: z.strictObject({ letters: z.array(z.string()) }) },
    stream: z.strictObject({ letter: z.string() }),
  },
} as const satisfies Contracts;

const letter = (id: string, size = 1): ServerSentEvent => ({
  id,
  event: 'letter',
  data: JSON.stringify({ letter: 'x'.repeat(size) }),
});

/** The parts that a test sends to a stream, and the readers that wait for them. */
class Letters {
  readonly waiting = new Set<WaitingRequest>();
  /** How often a part was asked for. */
  asked = 0;
  #parts: StreamPart[] = [];
  #wake: () => void = () => undefined;

  send(...parts: StreamPart[]): void {
    this.#parts.push(...parts);
    this.#wake();
  }

  async next(signal: AbortSignal): Promise<StreamPart | undefined> {
    this.asked += 1;
    for (;;) {
      if (signal.aborted) return undefined;
      const part = this.#parts.shift();
      if (part !== undefined) return part;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
    }
  }
}

interface Harness {
  server: HttpServer;
  letters: Letters;
  places: WaitingLeases;
  unsent: UnsentBytes;
}

const opened = closedAfterEach();

async function start(
  options: {
    places?: WaitingLeases;
    heartbeat?: number;
    lifetime?: number;
    stallTimeout?: number;
    unsent?: UnsentBytes;
  } = {},
): Promise<Harness> {
  const { places = waitingLeases(), unsent = unsentBytes(), heartbeat = 60_000, lifetime = 60_000 } = options;
  const letters = new Letters();
  const app = testApp({
    routes: implement(contracts, {
      readLetters: async ({ query: { fail, wait }, waiting }) => {
        if (fail === true) throw new DomainError('precondition_failed', 'no');
        if (!waiting.wantsStream && (wait === undefined || !waiting.mayWait)) return { body: { letters: [] } };
        waiting.begin();
        letters.waiting.add(waiting);
        if (waiting.wantsStream) return { stream: { next: async () => letters.next(waiting.signal) } };
        const part = await letters.next(waiting.signal);
        return { body: { letters: (part?.events ?? []).map(({ id }) => id) } };
      },
    }),
    checkReplies: true,
    unsentBytes: unsent,
    waitingLeases: places,
    streamTimes: { heartbeat, lifetime: { least: lifetime, random: 0 } },
  });
  const server = await serve(app, { stallTimeout: options.stallTimeout });
  opened(server);
  return { server, letters, places, unsent };
}

const headersOf = (workspaceId: number) => ({
  [PRINCIPAL_HEADER]: asUser('test', { workspace: { id: workspaceId } })[PRINCIPAL_HEADER],
});

const openStream = async (
  { server }: Pick<Harness, 'server'>,
  { headers = {}, workspaceId = 1 }: { headers?: Record<string, string>; workspaceId?: number } = {},
) => opened(await openEventStream(new URL(PATH, server.url), { ...headersOf(workspaceId), ...headers }));

const client = ({ server }: Harness, workspaceId = 1) => httpClient(server.url, headersOf(workspaceId));

describe('a stream', () => {
  test('sends its messages, and says how it has to be treated', async () => {
    const harness = await start();
    const reader = await openStream(harness, { headers: { 'Last-Event-ID': 'b' } });
    expect(reader.response.statusCode).toBe(200);
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    });
    expect(reader.response.headers).not.toHaveProperty('content-length');
    expect(reader.interim).toEqual([102]);
    const [waiting] = harness.letters.waiting;
    expect(waiting).toMatchObject({ wantsStream: true, lastEventId: 'b' });
    harness.letters.send({ events: [letter('c'), letter('d', 2)], position: () => 'd' });
    const expected =
      'retry: 1000\n\n' +
      'id: c\nevent: letter\ndata: {"letter":"x"}\n\n' +
      'id: d\nevent: letter\ndata: {"letter":"xx"}\n\n';
    await eventually(() => reader.text === expected, { what: 'two letters' });
  });

  test('shows that it is alive, and where it is when messages were skipped', async () => {
    const harness = await start({ heartbeat: 50 });
    const reader = await openStream(harness);
    harness.letters.send({ events: [], position: () => 'start' });
    await eventually(() => reader.text.startsWith('retry: 1000\n\nid: start\n\n:\n\n'), { what: 'a comment' });
    harness.letters.send({ events: [], position: () => 'skipped' });
    await eventually(() => reader.text.includes('\n\nid: skipped\n\n:\n\n'), { what: 'the position' });
    expect(reader.text.match(/id: /g)).toHaveLength(2);
  });

  test('ends by itself, completely', async () => {
    const harness = await start({ lifetime: 100 });
    const reader = await openStream(harness);
    expect(await reader.ended).toBe(true);
    expect(harness.places.held).toBe(0);
  });

  test('ends when its messages cannot be read any longer', async () => {
    const harness = await start();
    const reader = await openStream(harness);
    harness.letters.send({
      events: [],
      position: () => {
        throw new DomainError('precondition_failed', 'expired');
      },
    });
    expect(await reader.ended).toBe(true);
  });

  test.each([
    ['text/event-stream', true],
    ['text/event-stream, application/json;q=0.5', true],
    ['application/json, text/event-stream', false],
    ['*/*', false],
    ['image/png', false],
  ])('is what a client gets that accepts %s: %s', async (accept, streams) => {
    const harness = await start();
    const { response } = await openStream(harness, { headers: { Accept: accept } });
    expect(response.headers['content-type']).toMatch(streams ? 'text/event-stream' : 'application/json');
  });

  test('begins with an ordinary error if it cannot begin', async () => {
    const harness = await start();
    const failed = await client(harness).get(`${PATH}?fail=true`, { Accept: 'text/event-stream' });
    expect([failed.status, failed.body.code]).toEqual([412, 'precondition_failed']);
    const head = await fetch(new URL(PATH, harness.server.url), {
      method: 'HEAD',
      headers: { Accept: 'text/event-stream', ...headersOf(1) },
    });
    expect(head.headers.get('content-type')).toMatch('application/json');
    expect(harness.places.held).toBe(0);
  });
});

describe('the places of waiting requests', () => {
  test('are given back when the client goes away', async () => {
    const harness = await start();
    const reader = await openStream(harness);
    expect(harness.places.held).toBe(1);
    reader.close();
    await eventually(() => harness.places.held === 0, { what: 'the free place' });
    for (const { signal } of harness.letters.waiting) expect(signal.aborted).toBe(true);

    const poll = http.get(new URL(`${PATH}?wait=5`, harness.server.url), { agent: false, headers: headersOf(1) });
    poll.on('error', () => undefined);
    await once(poll, 'information');
    expect(harness.places.held).toBe(1);
    poll.destroy();
    await eventually(() => harness.places.held === 0, { what: 'the free place' });
  });

  test('are limited for a workspace', async () => {
    const harness = await start({ places: waitingLeases({ ofWorkspace: 2, inAll: 100 }) });
    const first = await openStream(harness);
    await openStream(harness);
    const refused = await client(harness).get(`${PATH}?wait=5`);
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', details: { limit: 'waiting_requests', retry_after_seconds: 5 } },
    });
    expect(refused.headers.get('Retry-After')).toBe('5');
    // Others, and requests that do not wait.
    expect((await openStream(harness, { workspaceId: 2 })).response.statusCode).toBe(200);
    expect((await client(harness).get(PATH)).status).toBe(200);
    first.close();
    await eventually(async () => (await openStream(harness)).response.statusCode === 200, { what: 'a free place' });
  });

  test('are divided among all workspaces', () => {
    const places = waitingLeases({ ofWorkspace: 100, inAll: 9 });
    const taken = Array.from({ length: 4 }, () => leaseToWait(places, 1));
    taken.push(leaseToWait(places, 2));
    expect(() => leaseToWait(places, 1)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
    for (let workspaceId = 3; places.held < 9; workspaceId += 1) leaseToWait(places, workspaceId);
    expect(() => leaseToWait(places, 100)).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    for (const lease of taken) lease.release();
    expect(places.held).toBe(4);
  });
});

describe('a server that stops', () => {
  test('ends streams and waits at once', async () => {
    const harness = await start();
    const reader = await openStream(harness);
    const poll = client(harness).get(`${PATH}?wait=20`);
    await eventually(() => harness.places.held === 2, { what: 'two waiting requests' });
    await harness.server.close();
    expect(await reader.ended).toBe(true);
    expect((await poll).body).toEqual({ letters: [] });
  });

  test('does not wait for a stream that nobody reads', async () => {
    const harness = await start();
    const socket = connect(harness.server.port, '127.0.0.1');
    opened({ close: () => void socket.destroy() });
    socket.on('error', () => undefined);
    socket.pause();
    const principal = headersOf(1)[PRINCIPAL_HEADER];
    socket.write(
      `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n${PRINCIPAL_HEADER}: ${principal}\r\n\r\n`,
    );
    harness.letters.send({ events: [letter('a', 24_000_000)], position: () => 'a' });
    await eventually(() => harness.unsent.total > 1_000_000, { what: 'unsent bytes' });
    await harness.server.close();
    expect(harness.unsent.total).toBe(0);
  });
});

describe('a client that does not read its stream', () => {
  test('is not sent any further part, and is disconnected', async () => {
    const harness = await start({ stallTimeout: 400 });
    const reader = await openStream(harness);
    reader.response.pause();
    const part: StreamPart = { events: [letter('a', 8_000_000)], position: () => 'a' };
    harness.letters.send(part, part, part, part);
    await eventually(() => harness.unsent.total > 1_000_000, { what: 'unsent bytes' });
    const { asked } = harness.letters;
    await eventually(() => harness.places.held === 0, { what: 'the end of the stream' });
    // The last one of them when the connection was closed.
    expect(harness.letters.asked - asked).toBeLessThanOrEqual(1);
    expect(harness.unsent.total).toBe(0);
  });

  test('ends the streams of its workspace that exceed its share of unread bytes, and no others', async () => {
    const harness = await start({ unsent: unsentBytes({ ofWorkspace: 4_000_000, inAll: 100_000_000 }) });
    const stalled = await openStream(harness);
    stalled.response.pause();
    harness.letters.send({ events: [letter('a', 24_000_000)], position: () => 'a' });
    await eventually(() => harness.unsent.total > 4_000_000, { what: 'unsent bytes' });
    const same = await openStream(harness);
    harness.letters.send({ events: [letter('b', 1_000_000)], position: () => 'b' });
    expect(await same.ended).toBe(true);
    expect(same.text).not.toContain('id: b');
    const other = await openStream(harness, { workspaceId: 2 });
    harness.letters.send({ events: [letter('b', 1_000_000)], position: () => 'b' });
    await eventually(() => other.text.includes('id: b'), { what: 'the letter' });
  });
});
