import { isIP } from 'node:net';
import { invalidRequest } from '@tocsin/http';
import { canonicalAddress, hostAndPort, isLocalName, isPublicAddress } from '@tocsin/safe-http';

export interface ReceiverUrl {
  /** The complete URL. Its path and query may contain secrets. */
  href: string;
  /** Scheme and host: the only part that responses and logs show. */
  origin: string;
  /** Key of the limits by host. */
  host: string;
}

const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Validates a receiver's URL by its text (contract: Webhooks); names are resolved, and their addresses checked, at
 * each request. Spaces, credentials and fragments are looked for in the raw text, because the URL parser drops or
 * repairs some of them.
 * @param testReceivers `host:port` pairs that may be on loopback and on any port
 * @throws DomainError `invalid_request` with `field: "url"`
 */
export function readReceiverUrl(text: string, testReceivers: ReadonlySet<string>): ReceiverUrl {
  const urlError = (message: string) => invalidRequest('url', message);
  if (/[\u0000-\u0020\u007f\\]/.test(text))
    throw urlError('Must not contain spaces, control characters or backslashes');
  const authority = /^https:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) throw urlError('Must be an absolute https URL');
  if (authority.includes('@')) throw urlError('Must not contain credentials');
  if (text.includes('#')) throw urlError('Must not contain a fragment');
  const url = URL.parse(text);
  if (url === null) throw urlError('Must be an absolute https URL');

  const { hostname } = url;
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  const isLiteral = isIP(literal) !== 0;
  const receiver = {
    href: url.href,
    origin: `https://${hostname}`,
    host: isLiteral ? canonicalAddress(literal) : hostname,
  };
  if (testReceivers.has(hostAndPort(url))) return receiver;

  if (url.port !== '') throw urlError('Must use port 443');
  if (isLiteral) {
    if (!isPublicAddress(literal)) throw urlError('Must not be a private or special-purpose address');
  } else if (isLocalName(hostname) || !HOST_NAME.test(hostname)) {
    throw urlError('Must have a public host name');
  }
  return receiver;
}
