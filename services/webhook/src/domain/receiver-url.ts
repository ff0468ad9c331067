import { isIP } from 'node:net';
import { invalid } from '@tocsin/http';
import { canonicalAddress, hostAndPort, isPublicAddress } from '@tocsin/safe-http';

export interface ReceiverUrl {
  /** The whole URL; its path and query may hold secrets. */
  href: string;
  /** Scheme and host: all that is ever shown. */
  origin: string;
  /** What the limits by host name count. */
  host: string;
}

/** Names that the public DNS does not answer for, with everything below them. */
const LOCAL_NAMES = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa)$/;
const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Judges a receiver's URL by its text (contract: Webhooks): names are resolved, and their addresses judged, at each request.
 * What a URL parser would quietly drop or repair is looked for in the raw text.
 * @param testReceivers `host:port` pairs that may be on loopback and on any port
 * @throws DomainError `invalid_request` with `field: "url"`
 */
export function readReceiverUrl(text: string, testReceivers: ReadonlySet<string>): ReceiverUrl {
  const refuse = (why: string) => invalid('url', why);
  if (/[\u0000-\u0020\u007f\\]/.test(text)) throw refuse('Must not contain spaces, control characters or backslashes');
  const authority = /^https:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) throw refuse('Must be an absolute https URL');
  if (authority.includes('@')) throw refuse('Must not contain credentials');
  if (text.includes('#')) throw refuse('Must not contain a fragment');
  const url = URL.parse(text);
  if (url === null) throw refuse('Must be an absolute https URL');

  const { hostname } = url;
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  const isLiteral = isIP(literal) !== 0;
  const read = {
    href: url.href,
    origin: `https://${hostname}`,
    host: isLiteral ? canonicalAddress(literal) : hostname,
  };
  if (testReceivers.has(hostAndPort(url))) return read;

  if (url.port !== '') throw refuse('Must use port 443');
  if (isLiteral) {
    if (!isPublicAddress(literal)) throw refuse('Must not be a private or otherwise special address');
  } else if (LOCAL_NAMES.test(hostname) || !HOST_NAME.test(hostname)) {
    throw refuse('Must name a public host');
  }
  return read;
}
