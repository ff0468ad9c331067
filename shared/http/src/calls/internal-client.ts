import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { currentDryRun, inSpan, openKeyring, requestSpan, traceHeaders } from '@tocsin/runtime';
import type { z } from 'zod';
import { PRINCIPAL_HEADER, principalPurpose, signPrincipal } from './principal.ts';
import { type Attempt, sendRequest } from './send-request.ts';
import { type ServiceAddresses, serviceAddresses } from './service-addresses.ts';

/** On a command to another service that is a part of a dry run, so that it has no effect there either. */
export const DRY_RUN_HEADER = 'x-tocsin-dry-run';

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
 * @param options.urls where the service is: one or several URLs; or `addresses`, if somebody else knows them already
 * @param options.timeout milliseconds for one call with its response; 800 by default
 * @throws ConfigError if the key for calls from `self` to `service` is missing
 */
export function internalClient(
  options: ({ urls: readonly string[] } | { addresses: ServiceAddresses }) & {
    self: string;
    service: string;
    secretKeys: string;
    timeout?: number;
  },
): InternalClient {
  const { self, service, secretKeys, timeout = REQUEST_TIMEOUT } = options;
  const keyring = openKeyring(secretKeys, principalPurpose(self, service));
  const addresses = 'addresses' in options ? options.addresses : serviceAddresses(options);

  const open = ({ method, target, body }: Call, attempt: Attempt<Exchange>) => {
    const { url, agent } = attempt.address;
    const request = (url.protocol === 'https:' ? https : http).request(new URL(target, url), {
      method,
      agent,
      headers: {
        ...traceHeaders(),
        [PRINCIPAL_HEADER]: signPrincipal(keyring, { kind: 'service' }),
        ...(method === 'POST' && currentDryRun() !== undefined && { [DRY_RUN_HEADER]: 'true' }),
        ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      },
    });
    attempt.begin(request);
    request.end(body);
  };

  const request = async <Schema extends z.ZodType>(
    call: Call,
    path: string,
    schema: Schema,
  ): Promise<z.output<Schema>> =>
    inSpan(requestSpan(call.method, new URL(path, addresses.all[0]?.url), path), async (span) => {
      const { status, text } = await sendRequest(addresses, {
        service,
        deadline: timeout,
        mayArriveTwice: true,
        open: (attempt) => open(call, attempt),
        receive: readResponse,
      });
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
