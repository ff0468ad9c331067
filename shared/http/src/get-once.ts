import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';

/** Where a process of a service is. */
export interface Target {
  readonly url: URL;
  /** Leads the host name of the URL to the address of this process; `undefined` for the system's look-up. */
  readonly lookup: LookupFunction | undefined;
}

/** Sends a GET on a connection of its own, which the caller closes by destroying the request. */
export function getOnce(
  { url, lookup }: Target,
  path: string,
  options: Pick<RequestOptions, 'headers' | 'signal'>,
  onResponse: (response: IncomingMessage) => void,
): ClientRequest {
  const get = url.protocol === 'https:' ? https.get : http.get;
  return get(new URL(path, url), { agent: false, ...(lookup !== undefined && { lookup }), ...options }, onResponse);
}
