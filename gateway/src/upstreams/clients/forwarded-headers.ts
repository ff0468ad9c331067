import type { IncomingHttpHeaders } from 'node:http';
import { BODY_LIMIT_HEADER, PRINCIPAL_HEADER } from '@tocsin/http';
import type { TraceHeaders } from '@tocsin/runtime';

const INTERNAL_PREFIX = 'x-tocsin-';

const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
];

/** Headers for the gateway only; behind it they are no longer true or must not be known. */
const FOR_THE_GATEWAY = [
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  // A span of the gateway is the parent.
  'traceparent',
  'tracestate',
  'x-forwarded-proto',
  'x-real-ip',
];

/** The gateway sends a body that it has read in whole, with its exact length. */
const BODY_LENGTH = ['content-length', 'transfer-encoding'];

const DROPPED_REQUEST_HEADERS = new Set([...HOP_BY_HOP, ...FOR_THE_GATEWAY, ...BODY_LENGTH]);
const DROPPED_RESPONSE_HEADERS = new Set([...HOP_BY_HOP, 'transfer-encoding', 'date', 'server', 'x-request-id']);

/**
 * Returns the headers for the service: those of the client, without internal ones, and those of the gateway.
 * @param added `bodyLength` is what will be sent; `undefined` for a request without a body. `bodyLimit` is the limit of a
 *   body that was cut off behind it
 */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  added: {
    principal: string;
    requestId: string;
    bodyLength: number | undefined;
    bodyLimit: number | undefined;
    trace: TraceHeaders | undefined;
  },
): IncomingHttpHeaders {
  const connectionOptions = connectionOptionsOf(headers.connection ?? '');
  const isForService = (name: string) =>
    !DROPPED_REQUEST_HEADERS.has(name) && !name.startsWith(INTERNAL_PREFIX) && !connectionOptions.includes(name);
  const forwarded: IncomingHttpHeaders = Object.fromEntries(
    Object.entries(headers).filter(([name]) => isForService(name)),
  );
  Object.assign(forwarded, added.trace);
  forwarded[PRINCIPAL_HEADER] = added.principal;
  forwarded['x-request-id'] = added.requestId;
  if (added.bodyLength !== undefined) forwarded['content-length'] = String(added.bodyLength);
  if (added.bodyLimit !== undefined) forwarded[BODY_LIMIT_HEADER] = String(added.bodyLimit);
  return forwarded;
}

/** Returns the headers that a Connection header limits to this hop. */
function connectionOptionsOf(connection: string): readonly string[] {
  // The values that nearly every client sends.
  if (connection === '' || connection === 'keep-alive' || connection === 'close') return [];
  return connection
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
}

/** Whether a header of the service's response is sent to the client. */
export function isForwarded(name: string): boolean {
  const lower = name.toLowerCase();
  return !DROPPED_RESPONSE_HEADERS.has(lower) && !lower.startsWith(INTERNAL_PREFIX);
}
