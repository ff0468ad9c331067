import type { IncomingHttpHeaders } from 'node:http';
import { PRINCIPAL_HEADER } from '@tocsin/http';

const INTERNAL = 'x-tocsin-';

/** They belong to one connection. Not transfer-encoding: it says that there is a body, and each hop writes its own. */
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

/** Meant for the gateway, and no longer true or no longer anybody's business behind it. */
const ENDS_HERE = [
  'authorization',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
];

const DROPPED_REQUEST_HEADERS = new Set([...HOP_BY_HOP, ...ENDS_HERE]);
const DROPPED_ANSWER_HEADERS = new Set([...HOP_BY_HOP, 'transfer-encoding', 'date', 'server', 'x-request-id']);
/** What a Connection header may not strike out, or the body would lose its length. */
const KEPT = new Set(['content-length', 'transfer-encoding']);

/** A client's headers as a service gets them: nothing that could pass for ours, and ours. */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  own: { principal: string; requestId: string },
): IncomingHttpHeaders {
  const struckOut = struckOutBy(headers.connection ?? '');
  const forwarded: IncomingHttpHeaders = {};
  for (const name in headers) {
    if (DROPPED_REQUEST_HEADERS.has(name) || name.startsWith(INTERNAL) || struckOut.includes(name)) continue;
    forwarded[name] = headers[name];
  }
  forwarded[PRINCIPAL_HEADER] = own.principal;
  forwarded['x-request-id'] = own.requestId;
  return forwarded;
}

/** The headers that a Connection header says are for the next hop only. */
function struckOutBy(connection: string): readonly string[] {
  // What nearly every client sends.
  if (connection === '' || connection === 'keep-alive' || connection === 'close') return [];
  return connection
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => !KEPT.has(name));
}

/** Whether an answer's header goes on to the client. */
export function leavesTheHouse(name: string): boolean {
  const lower = name.toLowerCase();
  return !DROPPED_ANSWER_HEADERS.has(lower) && !lower.startsWith(INTERNAL);
}
