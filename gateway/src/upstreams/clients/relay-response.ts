import type { IncomingMessage, ServerResponse } from 'node:http';
import { EVENT_STREAM, NDJSON } from '@tocsin/http';
import { isForwarded } from './forwarded-headers.ts';

/** Long enough for a slow client to read the longest response, and for a stream of events. */
const RESPONSE_TIMEOUT = 120_000;
/** Milliseconds that a client has to take the rest of a stream that the gateway ends. */
const END_TIMEOUT = 1_000;

/**
 * Copies status and body, and all headers except those of the connection and internal ones. If one of the two responses
 * breaks off, so does the other.
 */
export function relayResponse(upstreamResponse: IncomingMessage, response: ServerResponse): void {
  const timer = setTimeout(() => upstreamResponse.destroy(), RESPONSE_TIMEOUT);
  upstreamResponse.on('close', () => {
    clearTimeout(timer);
    if (!upstreamResponse.complete) response.destroy();
  });
  response.on('close', () => upstreamResponse.destroy());
  response.statusCode = upstreamResponse.statusCode ?? 502;
  const { rawHeaders } = upstreamResponse;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (isForwarded(name)) response.appendHeader(name, rawHeaders[index + 1] ?? '');
  }
  if (isStream(upstreamResponse)) response.flushHeaders();
  if (hasKnownBody(upstreamResponse, response)) sendBody(upstreamResponse, response);
  else upstreamResponse.pipe(response);
}

const hasKnownBody = ({ headers }: IncomingMessage, { req }: ServerResponse) =>
  Number(headers['content-length'] ?? 0) > 0 && req.method !== 'HEAD';

/** Most bodies arrive as one chunk: it is sent with the head in one write. The rest of others is piped. */
function sendBody(upstreamResponse: IncomingMessage, response: ServerResponse): void {
  const length = Number(upstreamResponse.headers['content-length']);
  upstreamResponse.once('data', (chunk: Buffer) => {
    if (chunk.length === length) response.end(chunk);
    else {
      response.write(chunk);
      upstreamResponse.pipe(response);
    }
  });
}

export const isStream = ({ headers }: IncomingMessage) =>
  [EVENT_STREAM, NDJSON].some((type) => headers['content-type']?.startsWith(type) === true);

/**
 * Ends a stream for its client, which discards a message that is not complete and opens the stream again. The close of
 * the response ends the one of the service.
 */
export function endStream(stream: IncomingMessage, response: ServerResponse): void {
  stream.unpipe(response);
  response.end();
  setTimeout(() => response.destroy(), END_TIMEOUT).unref();
}
