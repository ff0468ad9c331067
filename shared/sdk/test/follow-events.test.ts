import { describe, expect, test } from '@jest/globals';
import { CursorExpiredError, type FollowedEvent, UnexpectedResponseError } from '../src/index.ts';
import { json, parts, type RecordedRequest, type Respond, startRecording } from './recording-server.ts';

const { server, tocsin, respondWith: respond } = await startRecording();

const event = (id: string) => ({ id, type: 'incident.created', data: {} });
const message = (id: string) => `id: c-${id}\nevent: incident.created\ndata: ${JSON.stringify(event(id))}\n\n`;

const stream = (sent: string[], end?: { breaks: boolean }) => parts('text/event-stream', sent, end);
const respondWith = (...responses: Respond[]) => respond(stream([]), ...responses);
const page = (ids: string[], next: string): Respond =>
  json(200, { events: ids.map(event), pagination: { limit: 50, has_more: false, next_cursor: next } });

describe('a follower of the event feed', () => {
  async function take(followed: AsyncIterable<FollowedEvent>, count: number): Promise<string[]> {
    const taken: string[] = [];
    for await (const {
      event: { id },
      cursor,
    } of followed) {
      taken.push(`${id} ${cursor}`);
      if (taken.length === count) break;
    }
    return taken;
  }
  const isStream = ({ headers }: RecordedRequest) => headers.accept === 'text/event-stream';
  const paths = () => server.requests.map((request) => `${isStream(request) ? 'stream ' : ''}${request.path}`);

  test('goes on behind the last event after a stream that has ended, broken or been cut within an event', async () => {
    const cut = message('d').slice(0, -4);
    respondWith(
      stream(['id: c-0\n\n', ': waiting\n\n', message('a'), message('b').slice(0, 10), message('b').slice(10)]),
      json(503, { code: 'service_unavailable', message: 'Busy', request_id: 'r' }, { 'Retry-After': '0' }),
      stream([message('c'), cut], { breaks: true }),
      stream([message('d')]),
    );
    const interruptions: string[] = [];
    const cursors: string[] = [];
    const options = {
      after: 'c-start',
      types: ['incident.created'],
      onInterruption: ({ code }: { code: string }) => interruptions.push(code),
      onCursor: (cursor: string) => cursors.push(cursor),
    };
    expect(await take(tocsin.events.follow(options), 4)).toEqual(['a c-a', 'b c-b', 'c c-c', 'd c-d']);
    expect(paths()).toEqual(
      ['c-start', 'c-b', 'c-b', 'c-c'].map((cursor) => `stream /api/v1/events?types=incident.created&after=${cursor}`),
    );
    expect(interruptions).toEqual(['service_unavailable', 'connection_lost']);
    expect(cursors).toEqual(['c-0']);
  });

  test('takes the end of the feed once, so that it misses nothing before its first stream', async () => {
    respondWith(page([], 'c-now'), (response) => response.destroy(), stream([message('a')]));
    expect(await take(tocsin.events.follow(), 1)).toEqual(['a c-a']);
    expect(paths()).toEqual([
      '/api/v1/events?from=now&limit=1',
      'stream /api/v1/events?after=c-now',
      'stream /api/v1/events?after=c-now',
    ]);
  });

  test('reads long polls while no stream arrives, and never gives a cursor behind an event that it has not given', async () => {
    respondWith(page([], 'c-0'), page(['a'], 'c-1'), page(['b', 'c'], 'c-2'), page([], 'c-3'), page(['d'], 'c-4'));
    const followed = await take(tocsin.events.follow({ from: 'beginning' }), 4);
    expect(followed).toEqual(['a c-1', 'b c-1', 'c c-2', 'd c-4']);
    expect(paths()).toEqual([
      'stream /api/v1/events?from=beginning',
      '/api/v1/events?from=beginning&wait=20&limit=1',
      '/api/v1/events?after=c-1&wait=20',
      '/api/v1/events?after=c-2&wait=20',
      '/api/v1/events?after=c-3&wait=20',
    ]);
  });

  test('ends with an error that no repetition mends, and with its signal', async () => {
    respondWith(json(410, { code: 'cursor_expired', message: 'Too old', request_id: 'r' }));
    await expect(take(tocsin.events.follow({ after: 'c-old' }), 1)).rejects.toThrow(CursorExpiredError);
    const page: Respond = (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>');
    for (const from of ['now', 'beginning']) {
      server.respond = page;
      await expect(take(tocsin.events.follow({ from }), 1)).rejects.toThrow(UnexpectedResponseError);
    }
    const ended = new AbortController();
    respondWith((response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(message('a'));
    });
    const taken: string[] = [];
    const reason = new Error('enough');
    const following = (async () => {
      for await (const { cursor } of tocsin.events.follow({ after: 'c', signal: ended.signal })) {
        taken.push(cursor);
        ended.abort(reason);
      }
    })();
    await expect(following).rejects.toBe(reason);
    expect(taken).toEqual(['c-a']);
  });
});
