import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { type Tocsin, TocsinError } from '@tocsin/sdk';
import { findAddress } from '../contexts.ts';
import { messageOf } from '../describe-error.ts';
import { UsageError } from '../operation-parameters.ts';
import { type Call, createClient } from '../session.ts';
import { createPlaces } from './places.ts';
import { createServer, toolsFor } from './server.ts';

const PATH = '/mcp';
const DEFAULT_LISTEN = '127.0.0.1:8484';

/** As the API. */
const MAX_BODY_BYTES = 1_048_576;
/** Bodies that are read at once, requests that run, and connections. */
const MAX_BODIES = 128;
const MAX_REQUESTS = 64;
const MAX_CONNECTIONS = 512;
/** Milliseconds: for the headers, for a whole request to arrive, for the answer, and for running requests at the end. */
const TIMES = { headers: 10_000, request: 30_000, answer: 60_000, end: 10_000 };

/** A response that is none of the protocol's. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/**
 * Serves Streamable HTTP without sessions: each request is complete by itself, and acts with the API key, or the access
 * token of OAuth, that it sends as its bearer token. Ends with the session, after the requests that are running.
 * @throws UsageError
 */
export async function serveHttp(call: Call, flags: { listen?: string; allowHost: readonly string[] }): Promise<void> {
  const { session, options, output } = call;
  const address = findAddress(session.env, options.context);
  // Checks the address, and warns, before anybody sends a token.
  await createClient(address, 'none', output.note);
  const { host, port } = parseListen(flags.listen ?? DEFAULT_LISTEN);
  const hosts = [...localhostAllowedHostnames(), new URL(address).hostname, ...flags.allowHost.map(parseHost)];
  const [bodies, running] = [createPlaces(MAX_BODIES), createPlaces(MAX_REQUESTS)];

  const answer = async (request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<Response> => {
    checkRequest(request, hosts);
    const challenge = challengeFor(request, address);
    const tocsin = await createClient(address, tokenOf(request, challenge), () => undefined);
    // Not before: some clients look by GET whether they need a token.
    if (request.method !== 'POST')
      throw new Refusal(405, 'There are no sessions and no streams: send POST', { Allow: 'POST' });
    // Before anything of the request is kept: who has no key may not hold a place.
    const key = await keyOf(tocsin, signal, challenge);
    const tools = toolsFor(key.scopes);
    const release = bodies.take(key.id) ?? tooMany();
    const body = await readJson(request).finally(release);
    signal.throwIfAborted();
    // Only now: who sends slowly may not hold a place of what runs.
    response.once('close', running.take(key.id) ?? tooMany());
    // Nothing is told to clients later, so there is nothing to listen to.
    const handler = createMcpHandler(() => createServer(tocsin, tools), { maxSubscriptions: 0 });
    const described = new Request(`http://localhost${PATH}`, { method: 'POST', headers: headersOf(request), signal });
    return handler.fetch(described, { parsedBody: body });
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const deadline = AbortSignal.timeout(TIMES.answer);
    const prepare = () => {
      if (session.signal.aborted && !response.headersSent) response.setHeader('Connection', 'close');
    };
    try {
      const answered = await answer(request, response, AbortSignal.any([gone.signal, deadline]));
      deadline.throwIfAborted();
      prepare();
      await send(answered, response, deadline);
    } catch (error) {
      const refusal =
        error instanceof Refusal
          ? error
          : deadline.aborted
            ? new Refusal(504, 'The request took too long')
            : new Refusal(500, 'Internal error');
      if (!gone.signal.aborted && refusal.status >= 500)
        output.note(refusal === error ? refusal.message : messageOf(error));
      prepare();
      refuse(refusal, response);
    }
  };

  const server = createHttpServer(
    { headersTimeout: TIMES.headers, requestTimeout: TIMES.request },
    (request, response) => void handle(request, response),
  );
  server.maxConnections = MAX_CONNECTIONS;
  await once(server.listen({ host, port }), 'listening');
  const { port: bound } = server.address() as AddressInfo;
  output.note(`serving agents of ${address} at http://${host.includes(':') ? `[${host}]` : host}:${bound}${PATH}`);

  if (!session.signal.aborted) await once(session.signal, 'abort');
  const closed = once(server, 'close');
  server.close();
  const late = setTimeout(() => server.closeAllConnections(), TIMES.end);
  await closed;
  clearTimeout(late);
}

/** @throws UsageError */
function parseListen(listen: string): { host: string; port: number } {
  const [, ipv6, name, port = ''] = /^(?:\[([\da-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(listen) ?? [];
  const host = ipv6 ?? name;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new UsageError(`--listen: ${listen} is not an address and a port, such as ${DEFAULT_LISTEN}`);
}

/** @throws UsageError */
function parseHost(name: string): string {
  const { host, port } = URL.parse(`http://${name}`) ?? { host: '', port: '' };
  if (host === name.toLowerCase() && port === '') return host;
  throw new UsageError(`--allow-host: ${name} is not a host name without a port`);
}

/**
 * Pages of the web can make a browser send requests to this machine, under names that resolve to it: only names that were
 * allowed count, of the server and of the page (DNS rebinding).
 */
function checkRequest({ url = '', headers }: IncomingMessage, hosts: string[]): void {
  if (!validateHostHeader(headers.host, hosts).ok) throw new Refusal(403, 'This host is not allowed: see --allow-host');
  if (!validateOriginHeader(headers.origin, hosts).ok)
    throw new Refusal(403, 'This origin is not allowed: see --allow-host');
  if (url.split('?')[0]?.replace(/\/$/, '') !== PATH) throw new Refusal(404, `There is only ${PATH}`);
  if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
}

/**
 * Tells clients where to begin with OAuth (RFC 9728). The workspace is the authorization server, for the server at its own
 * host only: tokens are for the address that the person knows.
 */
function challengeFor({ headers }: IncomingMessage, address: string): readonly string[] {
  const { host, origin } = new URL(address);
  return headers.host === host ? [`resource_metadata="${origin}/.well-known/oauth-protected-resource${PATH}"`] : [];
}

const bearer = (...parameters: readonly string[]) => ({ 'WWW-Authenticate': `Bearer ${parameters.join(', ')}`.trim() });

/** What the token is checked for is up to the API; anything else cannot stand in a header. */
function tokenOf({ headers }: IncomingMessage, challenge: readonly string[]): string {
  const token = /^Bearer +([!-~]{1,256})$/i.exec(headers.authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new Refusal(401, 'Send an API key of the workspace as the bearer token', bearer(...challenge));
}

/** @throws Refusal */
function tooMany(): never {
  throw new Refusal(503, 'Too many requests are running', { 'Retry-After': '1' });
}

const tooLarge = () => new Refusal(413, `A request has at most ${MAX_BODY_BYTES} bytes`);

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new Refusal(400, 'The body is not JSON');
  }
  // The protocol has no batches any longer; one could hold thousands of calls.
  if (Array.isArray(body)) throw new Refusal(400, 'Send one message in a request');
  return body;
}

/** The key, as the API knows it. */
async function keyOf(
  tocsin: Tocsin,
  signal: AbortSignal,
  challenge: readonly string[],
): Promise<{ id: number; scopes: readonly string[] }> {
  try {
    return (await tocsin.me.get({ signal, retries: 0 })).api_key;
  } catch (error) {
    if (!(error instanceof TocsinError)) throw error;
    const { status, retryAfter = 1 } = error;
    if (status === 401)
      throw new Refusal(401, 'This token is not valid', bearer('error="invalid_token"', ...challenge));
    if (status === 429) throw new Refusal(429, error.message, { 'Retry-After': String(retryAfter) });
    throw new Refusal(503, `Tocsin does not answer: ${error.message}`, { 'Retry-After': String(retryAfter) });
  }
}

/** The protocol wants both types by their names. */
const BOTH_TYPES = 'application/json, text/event-stream';

/** What the protocol uses; without the token. Clients that accept anything, or do not say, accept both types. */
const headersOf = ({ headers: { accept = '*/*', ...headers } }: IncomingMessage): [string, string][] => [
  ['accept', accept.includes('*/*') ? BOTH_TYPES : accept],
  ...Object.entries(headers).flatMap(([name, value]) =>
    /^(?:content-type|mcp-.+)$/.test(name) ? [[name, String(value)] as [string, string]] : [],
  ),
];

async function send(answer: Response, response: ServerResponse, deadline: AbortSignal): Promise<void> {
  // Whether the connection stays is up to this server.
  const headers = [...answer.headers].filter(([name]) => name !== 'connection');
  response.writeHead(answer.status, Object.fromEntries(headers));
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response, { signal: deadline });
}

function refuse({ status, message, headers }: Refusal, response: ServerResponse): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // The rest of a request that nobody reads; another request may not follow it.
  if (!response.req.complete) response.setHeader('Connection', 'close');
  response.req.resume();
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}
