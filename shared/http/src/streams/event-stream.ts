/**
 * `streams` is responses that last: server-sent events, and lines of JSON (contract: Waiting and streaming, Export).
 * `begin` of a `WaitingRequest` takes one of the workspace's places until the response is closed, and tells the
 * gateway, which no longer counts the request among those under way. Then this file reads part after part, each only
 * when the client has taken the one before; what the client has not taken counts among the unread bytes of its
 * workspace (`unsent-bytes.ts`). A heartbeat tells a position that has moved. A stream ends after 90 to 105 seconds,
 * when its server drains, or by an error; lines are cut off by one, so that nobody takes them for complete. No state
 * outlives the response: a client goes on with the last `id`.
 */
import type { ServerResponse } from 'node:http';
import type { UnsentBytes } from './unsent-bytes.ts';
import { EVENT_STREAM } from './waiting.ts';

/** A message of a stream, as the standard of server-sent events defines it. */
export interface ServerSentEvent {
  /** Where a client continues that has received this message. */
  id: string;
  event: string;
  /** One line. */
  data: string;
}

/** What a stream sends next. */
export interface StreamPart {
  events: readonly ServerSentEvent[];
  /** The ID of a position behind these events, and behind others that were not for this client. */
  position: () => string;
}

/** The messages of one stream, read as fast as the client takes them. */
export interface EventStream {
  /**
   * Waits for the next part; `undefined` is the end. It is not called before the client has taken the previous part.
   * A part may have no events: then its position is sent at the next heartbeat.
   */
  next(): Promise<StreamPart | undefined>;
}

/** JSON texts without a line break, read as fast as the client takes them. */
export interface LineStream {
  /** The next lines, in a part of a few mebibytes at most; `undefined` is the end. */
  next(): Promise<readonly string[] | undefined>;
}

/** The media type of a stream of JSON texts, one a line. */
export const NDJSON = 'application/x-ndjson';
/** For nginx, which would collect a stream otherwise. */
export const UNBUFFERED_HEADER = 'X-Accel-Buffering';

/** Milliseconds between two signs of life of a stream. */
export const HEARTBEAT = 15_000;
/** Milliseconds that a client waits before it opens the stream again. */
const RETRY = 1_000;
/** What is handed to a connection at once; bytes. */
const CHUNK = 65_536;

/** Milliseconds that a client has to take what is under way when its stream ends. */
const END_TIMEOUT = 1_000;

/**
 * Sends a stream to its end, or until `signal`. A client that does not read gets no further parts; the server
 * disconnects it after a while.
 * @param options `onError` gets what ends the stream early; the client opens it again and gets the error as a response
 */
export async function sendStream(
  response: ServerResponse,
  stream: EventStream,
  options: SendOptions & { heartbeat: number },
): Promise<void> {
  const { signal } = options;
  beginStream(response, `${EVENT_STREAM}; charset=utf-8`);
  response.write(`retry: ${RETRY}\n\n`);

  let lastId: string | undefined;
  let position: StreamPart['position'] | undefined;
  let isIdle = false;
  const heartbeat = () => {
    if (!isIdle) return;
    const id = position?.();
    // Events that were not for this client may have moved the position.
    response.write(id === undefined || id === lastId ? ':\n\n' : `id: ${id}\n\n`);
    lastId = id;
  };
  const timer = setInterval(heartbeat, options.heartbeat);
  try {
    while (!signal.aborted) {
      isIdle = position !== undefined;
      const part = await stream.next();
      isIdle = false;
      if (part === undefined) break;
      const isFirst = position === undefined;
      ({ position } = part);
      // The first position is sent at once: who is cut off before the first event must not miss it.
      lastId = part.events.at(-1)?.id ?? (isFirst ? position() : lastId);
      await sendText(response, textOf(part, isFirst), options);
    }
  } catch (error) {
    options.onError(error);
  } finally {
    clearInterval(timer);
    response.end();
    setTimeout(() => response.destroy(), END_TIMEOUT).unref();
  }
}

/**
 * Sends lines to their end, or until `signal`. An error cuts the response off, so that no client takes it for complete.
 */
export async function sendLines(response: ServerResponse, lines: LineStream, options: SendOptions): Promise<void> {
  beginStream(response, NDJSON);
  try {
    while (!options.signal.aborted) {
      const part = await lines.next();
      if (part === undefined) break;
      await sendText(response, part.map((line) => `${line}\n`).join(''), options);
    }
    response.end();
  } catch (error) {
    options.onError(error);
    response.destroy();
  }
}

function beginStream(response: ServerResponse, mediaType: string): void {
  response.setHeader('Content-Type', mediaType);
  response.setHeader(UNBUFFERED_HEADER, 'no');
  response.statusCode = 200;
}

interface SendOptions {
  workspaceId: number;
  unsent: UnsentBytes;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

const textOf = ({ events, position }: StreamPart, isFirst: boolean) =>
  events.length === 0 && isFirst ? `id: ${position()}\n\n` : events.map(messageOf).join('');

/** The text of a message. */
export const messageOf = ({ id, event, data }: ServerSentEvent) => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;

/**
 * Sends a text as fast as the client takes it. What it has not taken counts among the unread responses of its workspace.
 * @throws DomainError `rate_limited` if they are too large
 */
async function sendText(
  response: ServerResponse,
  text: string,
  { workspaceId, unsent, signal }: SendOptions,
): Promise<void> {
  const bytes = Buffer.from(text);
  const unsentPart = unsent.add({ workspaceId, bytes: bytes.length, mayBeRefused: true });
  try {
    for (let start = 0; start < bytes.length && !signal.aborted; start += CHUNK) {
      await taken(response, bytes.subarray(start, start + CHUNK), signal);
      unsentPart.release(CHUNK);
    }
  } finally {
    unsentPart.end();
  }
}

/** Resolves when the system has taken the bytes, or when the stream ends. */
async function taken(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  signal.addEventListener('abort', end);
  response.write(bytes, end);
  await promise;
  signal.removeEventListener('abort', end);
}
