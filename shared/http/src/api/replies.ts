import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Reply, Route } from '../contracts/contract.ts';
import { type DomainError, errorBody } from '../errors/errors.ts';
import { jsonPieces, withParsedJson } from '../json/json-rows.ts';
import { VERSION_HEADER } from '../contracts/preconditions.ts';
import { ALWAYS_SENT, type UnsentBytes, type UnsentResponse } from '../streams/unsent-bytes.ts';

export const JSON_TYPE = 'application/json';
/** The media type of a Markdown document. */
export const MARKDOWN = 'text/markdown';
export const HTML = 'text/html';

/** What is handed to a connection at once, unless it is the rest: each write costs every process on the way. */
const CHUNK_BYTES = 65_536;

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  send(response, jsonPieces(body));
}

/**
 * 503 asks an orchestrator to restart the process.
 * @param build what the response tells about the sources that run
 */
export function sendHealth(
  response: ServerResponse,
  isStuck: boolean,
  build: { version?: string; commit?: string | undefined } = {},
): void {
  sendJson(response, isStuck ? 503 : 200, { status: isStuck ? 'stuck' : 'ok', ...build });
}

/** The readiness of a process that stops. */
export function sendDraining(response: ServerResponse): void {
  sendJson(response, 503, { status: 'draining' });
}

/** Sends an error with its headers in the form of the contract (contract: Errors). */
export function sendError(response: ServerResponse, error: DomainError, requestId: string): void {
  response.setHeaders(new Map(Object.entries(error.headers)));
  sendJson(response, error.status, errorBody(error, requestId));
}

/**
 * Sends what a route's handler returned, with the status of its contract unless the reply has its own.
 * @throws DomainError `rate_limited` for a read whose response would make the workspace's unread responses too large
 */
export function sendReply(
  response: ServerResponse,
  { route, reply, workspaceId, unsent }: { route: Route; reply: Reply; workspaceId: number; unsent: UnsentBytes },
): void {
  const pieces = piecesOf(reply);
  const isHead = response.req.method === 'HEAD';
  const bytes = isHead || pieces === undefined ? 0 : sizeOf(pieces);
  // The effect of a write has happened: its response is counted, and never refused.
  const unsentResponse = unsent.add({ workspaceId, bytes, mayBeRefused: route.method === 'get' });
  response.on('close', () => unsentResponse.end());

  if (reply.revision !== undefined) response.setHeader(VERSION_HEADER, reply.revision);
  if (reply.headers !== undefined) response.setHeaders(new Map(Object.entries(reply.headers)));
  response.statusCode = reply.status ?? route.reply.status;
  const { file } = reply;
  if (isKept(response.req, reply.headers?.['ETag'])) response.statusCode = 304;
  if (pieces === undefined || response.statusCode === 304) response.end();
  else send(response, pieces, { unsent: unsentResponse, contentType: file?.mediaType ?? textType(mediaTypeOf(reply)) });
}

/** Whether the client has the version of a file that an ETag names. */
const isKept = ({ headers }: IncomingMessage, etag: string | undefined): boolean =>
  etag !== undefined && (headers['if-none-match'] ?? '').split(',').some((each) => each.trim() === etag);

function mediaTypeOf({ markdown, html }: Reply): string {
  if (html !== undefined) return HTML;
  return markdown === undefined ? JSON_TYPE : MARKDOWN;
}

function piecesOf({ file, html, markdown = html, text = markdown, body }: Reply): readonly Buffer[] | undefined {
  if (file !== undefined) return [file.bytes];
  if (text !== undefined) return [Buffer.from(text)];
  return body === undefined ? undefined : jsonPieces(body);
}

const textType = (mediaType: string) => `${mediaType}; charset=utf-8`;

const sizeOf = (pieces: readonly Buffer[]) => pieces.reduce((bytes, { length }) => bytes + length, 0);

function send(
  response: ServerResponse,
  pieces: readonly Buffer[],
  { unsent, contentType = textType(JSON_TYPE) }: { unsent?: UnsentResponse; contentType?: string } = {},
): void {
  const bytes = sizeOf(pieces);
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', bytes);
  if (response.req.method === 'HEAD') response.end();
  else if (bytes <= ALWAYS_SENT) response.end(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  else void sendInChunks(response, [...pieces], unsent);
}

/** Sends chunk after chunk, as fast as the client reads. What it has read is neither kept nor counted any longer. */
async function sendInChunks(response: ServerResponse, pieces: Buffer[], unsent?: UnsentResponse): Promise<void> {
  for (const chunk of chunksOf(pieces)) {
    if (response.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    response.write(chunk, () => resolve());
    await promise;
    unsent?.release(chunk.length);
  }
  response.end();
}

/** Joins and divides pieces into chunks of at least `CHUNK_BYTES`, less than twice as many, and the rest. Takes the pieces out. */
function* chunksOf(pieces: Buffer[]): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
    gathered.push(piece);
    bytes += piece.length;
    if (bytes < CHUNK_BYTES) continue;
    let joined = gathered.length === 1 ? piece : Buffer.concat(gathered, bytes);
    for (; joined.length >= 2 * CHUNK_BYTES; joined = joined.subarray(CHUNK_BYTES))
      yield joined.subarray(0, CHUNK_BYTES);
    yield joined;
    gathered = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(gathered, bytes);
}

/**
 * Compares a reply with its contract.
 * @throws Error when the body does not match the declared schema, or the revision header is missing or not declared
 */
export function checkReply(route: Route, reply: Reply): void {
  if (reply.text !== undefined || reply.status !== undefined) return;
  for (const format of ['markdown', 'html'] as const) {
    if (reply[format] === undefined) continue;
    if (route[format] !== true) throw new Error(`the contract of ${route.id} has no ${format}`);
    return;
  }
  if (reply.file !== undefined) {
    if (route.reply.file?.includes(reply.file.mediaType) !== true) throw new Error(`${route.id} has no such file`);
    return;
  }
  for (const kind of ['lines', 'stream'] as const) {
    if (reply[kind] === undefined) continue;
    if (route[kind] === undefined) throw new Error(`the contract of ${route.id} has no ${kind}`);
    return;
  }
  const body = withParsedJson(reply.body);
  if (route.reply.body === undefined ? body !== undefined : !route.reply.body.safeParse(body).success) {
    const detail = route.reply.body?.safeParse(body).error?.message;
    throw new Error(`the body of ${route.id} does not match its contract: ${detail ?? 'no body is declared'}`);
  }
  if ((route.reply.versioned === true) !== (reply.revision !== undefined)) {
    throw new Error(`the revision header of ${route.id} does not match its contract`);
  }
}

/** The stream or the lines of a reply, each part of which is compared with the contract before it is sent. */
export const checkedParts = (route: Route, { stream, lines }: Reply): Pick<Reply, 'stream' | 'lines'> => ({
  ...(stream && { stream: checked(stream, route.stream, ({ events }) => events.map(({ data }) => data)) }),
  ...(lines && { lines: checked(lines, route.lines, (part) => part) }),
});

const checked = <Part>(
  parts: { next(): Promise<Part | undefined> },
  schema: z.ZodType | undefined,
  textsOf: (part: Part) => readonly string[],
) => ({
  next: async () => {
    const part = await parts.next();
    for (const text of part === undefined ? [] : textsOf(part)) schema?.parse(JSON.parse(text));
    return part;
  },
});
