import { ConnectionError, TocsinError } from './errors.ts';
import type { FeedEvent, ListEventsQuery, ListEventsReply } from './generated/api.ts';
import type { TocsinOptions } from './options.ts';
import { type ApiRequest, openResponse, type Query, sendRequest } from './request.ts';
import { backoff, pause } from './retry.ts';
import { readMessages } from './server-sent-events.ts';

export interface FollowOptions extends Pick<ListEventsQuery, 'types' | 'resource'> {
  /** The cursor of the last event that was handled. */
  after?: string | undefined;
  /** Without a cursor: where to begin; default `now`. */
  from?: ListEventsQuery['from'];
  signal?: AbortSignal | undefined;
  /** Default: a stream, or long polls while no stream arrives. */
  transport?: 'stream' | 'polls' | undefined;
  /** Is called with each failure after which the feed is read again. */
  onInterruption?: ((error: TocsinError) => void) | undefined;
  /** Is called with a cursor behind events that the filters or the scopes of the key skip. */
  onCursor?: ((cursor: string) => void) | undefined;
}

/** An event of the feed. */
export interface FollowedEvent {
  event: FeedEvent;
  /** Whoever begins behind it (`after`) misses no event. In long polls, the events of one page may come again. */
  cursor: string;
}

const PATH = '/api/v1/events';

/** Milliseconds; the server sends something every 15 seconds. */
const SILENCE = 45_000;
/** Milliseconds for the first message of a stream: a proxy that collects responses lets none through. */
const FIRST_MESSAGE = 20_000;
/** Milliseconds of long polls before a stream is tried again. */
const POLLING = 600_000;
/** Seconds of a long poll. */
const WAIT = 20;
/** Milliseconds at most between two attempts. */
const LONGEST_WAIT = 15_000;

interface Message {
  event: FeedEvent | undefined;
  cursor: string;
}

/** See `events.follow` of the client. */
export async function* followEvents(
  client: TocsinOptions,
  options: FollowOptions = {},
): AsyncGenerator<FollowedEvent, void, undefined> {
  const { signal, transport, onInterruption, onCursor } = options;
  let cursor = options.after;
  let failures = 0;
  let pollUntil = transport === 'polls' ? Infinity : 0;
  for (;;) {
    try {
      // The end of the feed is not repeatable: a connection that is lost before its cursor arrives would skip events.
      cursor ??= isNow(options) ? (await readPage(client, options, { from: 'now', limit: 1 })).cursor : undefined;
      const begin = cursor === undefined ? { from: options.from } : { after: cursor };
      let hasEvents = false;
      const messages = Date.now() < pollUntil ? poll(client, options, begin) : stream(client, options, begin);
      for await (const message of messages) {
        failures = 0;
        cursor = message.cursor;
        hasEvents ||= message.event !== undefined;
        if (message.event === undefined) onCursor?.(cursor);
        else yield { event: message.event, cursor };
      }
      // A server that stops ends all streams and polls at once.
      if (!hasEvents) await pause(backoff(0), signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TocsinError) || !error.retryable) throw error;
      if (error.code === 'timeout' && transport === undefined) pollUntil = Date.now() + POLLING;
      onInterruption?.(error);
      await pause((error.retryAfter ?? 0) * 1_000 + backoff(failures, LONGEST_WAIT), signal);
      failures += 1;
    }
    signal?.throwIfAborted();
  }
}

const isNow = ({ from }: FollowOptions) => from === undefined || from === 'now';

const requestOf = ({ types, resource, signal }: FollowOptions, query: Query): ApiRequest => ({
  ...{ method: 'GET', path: PATH, isRepeatable: true },
  query: { types, resource, ...query },
  // The deadline of the operation includes the wait.
  deadline: 30,
  options: { signal, retries: 0 },
});

async function readPage(client: TocsinOptions, options: FollowOptions, query: Query) {
  const { events, pagination } = (await sendRequest(client, requestOf(options, query))).body as ListEventsReply;
  return { events, cursor: pagination.next_cursor };
}

/** One long poll. The cursor of a page is behind its last event. */
async function* poll(client: TocsinOptions, options: FollowOptions, begin: Query): AsyncGenerator<Message> {
  const before = begin['after'] as string | undefined;
  // There is no cursor within a page: without one before it, the page has one event.
  const query = { ...begin, wait: WAIT, ...(before === undefined && { limit: 1 }) };
  const { events, cursor } = await readPage(client, options, query);
  for (const [index, event] of events.entries()) {
    yield { event, cursor: index === events.length - 1 ? cursor : (before ?? cursor) };
  }
  if (events.length === 0) yield { event: undefined, cursor };
}

/** One stream, until it ends. */
async function* stream(client: TocsinOptions, options: FollowOptions, begin: Query): AsyncGenerator<Message> {
  const ending = new AbortController();
  const { signal } = options;
  const request = requestOf(options, begin);
  const combined = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
  const silent = (message: string) => () => ending.abort(new ConnectionError('timeout', message, { retryable: true }));
  const lost = (cause: unknown) =>
    (ending.signal.reason as ConnectionError | undefined) ??
    new ConnectionError('connection_lost', 'The stream of events broke', { cause, retryable: true });
  const first = setTimeout(silent('No stream of events arrives'), FIRST_MESSAGE);
  try {
    const streaming = { ...request, headers: { Accept: 'text/event-stream' } };
    const response = await openResponse(client, streaming, combined);
    if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream'))
      throw new ConnectionError('timeout', 'The response is no stream of events', { retryable: true });
    const onIdle = silent('The stream of events is silent');
    for await (const { id, data } of readMessages(response.body, { idle: SILENCE, onIdle })) {
      clearTimeout(first);
      if (id !== undefined)
        yield { event: data === undefined ? undefined : (JSON.parse(data) as FeedEvent), cursor: id };
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof TocsinError && !ending.signal.aborted ? error : lost(error);
  } finally {
    clearTimeout(first);
    ending.abort();
  }
}
