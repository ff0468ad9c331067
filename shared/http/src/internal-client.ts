import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { currentDryRun, inSpan, openKeyring, requestSpan, traceHeaders } from '@tocsin/runtime';
import type { z } from 'zod';
import { PRINCIPAL_HEADER, principalPurpose, signPrincipal } from './principal.ts';
import { type ServiceAddress, serviceAddresses } from './service-addresses.ts';
import { SUSPECT_AFTER_MS, type WatchedRequest } from './service-health.ts';
import { DRY_RUN_HEADER } from './validate-only.ts';

/**
 * Calls another service, at one of its addresses. Each call has a timeout, and the response is validated. A call whose
 * connection breaks is repeated once, at another address if there is one. While all addresses are known to be down, calls
 * fail at once.
 */
export interface InternalClient {
  /**
   * @throws if the service is down or slow, or returns a body that does not match `schema`
   * @throws UnexpectedStatus if it returns an error status
   */
  get<Schema extends z.ZodType>(
    path: string,
    query: Record<string, string | number | undefined>,
    schema: Schema,
  ): Promise<z.output<Schema>>;
  /** Sends a command, which may arrive twice; from a dry run, it is one there, too. @throws as `get` */
  post<Schema extends z.ZodType>(path: string, body: object, schema: Schema): Promise<z.output<Schema>>;
  close(): void;
}

/** A response of another service with an error status. */
export class UnexpectedStatus extends Error {
  readonly status: number;

  constructor(path: string, status: number) {
    super(`${path} returned status ${status}`);
    this.status = status;
  }
}

/** From the look-up of the address to the last byte of the response; milliseconds. */
const REQUEST_TIMEOUT = 800;
/** More than any response has; a larger one is an error. */
const MAX_RESPONSE_BYTES = 33_554_432;

interface Call {
  method: 'GET' | 'POST';
  /** The path with its query. */
  target: string;
  /** JSON. */
  body?: string;
}

/** A response in whole; `undefined` as its text: it has an error status, or is too large. */
interface Exchange {
  status: number;
  text: string | undefined;
}

/**
 * @param options.urls where the service is: one or several URLs
 * @param options.timeout milliseconds for one call with its response; 800 by default
 * @throws ConfigError if the key for calls from `self` to `service` is missing
 */
export function internalClient(options: {
  urls: readonly string[];
  self: string;
  service: string;
  secretKeys: string;
  timeout?: number;
}): InternalClient {
  const { urls, self, service, secretKeys, timeout = REQUEST_TIMEOUT } = options;
  const keyring = openKeyring(secretKeys, principalPurpose(self, service));
  const addresses = serviceAddresses({ urls });
  const isDown = () => new Error(`the service ${service} is down`);

  const send = async (address: ServiceAddress, call: Call, signal: AbortSignal): Promise<Exchange> => {
    const { method, target, body } = call;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { request: open } = address.url.protocol === 'https:' ? https : http;
    const request = open(new URL(target, address.url), {
      method,
      agent: address.agent,
      headers: {
        ...traceHeaders(),
        [PRINCIPAL_HEADER]: signPrincipal(keyring, { kind: 'service' }),
        ...(method === 'POST' && currentDryRun() !== undefined && { [DRY_RUN_HEADER]: 'true' }),
        ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      },
    });
    // For as long as the request exists: it may fail after the response has begun.
    request.on('error', reject);
    request.on('response', resolve);
    const abort = () => request.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort);
    const watched: WatchedRequest = {
      sentAt: performance.now(),
      // The signal is the deadline, also for the rest of the response.
      deadlineAt: Infinity,
      suspectAfter: SUSPECT_AFTER_MS,
      giveUp: () => request.destroy(isDown()),
    };
    address.health.watch(watched);
    address.underWay += 1;
    try {
      request.end(body);
      const response = await promise;
      address.health.unwatch(watched);
      if (response.headers.connection === 'close') address.health.check('doubt');
      return await readResponse(response);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      address.health.check('doubt');
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      address.health.unwatch(watched);
      address.underWay -= 1;
    }
  };

  /** Sends the request, and once more if the connection breaks: it only reads, or may arrive twice. */
  const exchange = async (call: Call, signal: AbortSignal): Promise<Exchange> => {
    const first = addresses.choose();
    if (first === undefined) throw isDown();
    try {
      return await send(first, call, signal);
    } catch (error) {
      const second = signal.aborted ? undefined : addresses.choose(first);
      if (second === undefined) throw error;
      return send(second, call, signal);
    }
  };

  const request = async <Schema extends z.ZodType>(
    call: Call,
    path: string,
    schema: Schema,
  ): Promise<z.output<Schema>> =>
    inSpan(requestSpan(call.method, new URL(path, urls[0]), path), async (span) => {
      const { status, text } = await exchange(call, AbortSignal.timeout(timeout));
      span?.setAttribute('http.response.status_code', status);
      if (status < 200 || status > 299) throw new UnexpectedStatus(path, status);
      if (text === undefined) throw new Error(`the response has more than ${MAX_RESPONSE_BYTES} bytes`);
      return schema.parse(JSON.parse(text));
    });

  return {
    get: async (path, query, schema) => {
      const parameters = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) parameters.set(name, String(value));
      }
      const target = parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
      return request({ method: 'GET', target }, path, schema);
    },
    post: async (path, body, schema) =>
      request({ method: 'POST', target: path, body: JSON.stringify(body) }, path, schema),
    close: () => addresses.close(),
  };
}

async function readResponse(response: IncomingMessage): Promise<Exchange> {
  const { statusCode: status = 0 } = response;
  if (status < 200 || status > 299) {
    response.resume();
    return { status, text: undefined };
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    // The return destroys the response.
    if (length > MAX_RESPONSE_BYTES) return { status, text: undefined };
    chunks.push(chunk);
  }
  return { status, text: Buffer.concat(chunks).toString('utf8') };
}
