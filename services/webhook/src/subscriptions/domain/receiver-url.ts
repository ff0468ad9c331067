import { isIP } from 'node:net';
import { invalidRequest } from '@tocsin/http';
import {
  type AllowedDestinations,
  DESTINATION_PROBLEMS,
  findDestinationProblem,
  reachedAddress,
} from '@tocsin/safe-http';

export interface ReceiverUrl {
  /** The complete URL. Its path and query may contain secrets. */
  href: string;
  /** Scheme and host: the only part that responses and logs show. */
  origin: string;
  /** Key of the limits by host. */
  host: string;
}

/** What the API description says of the URLs that `readReceiverUrl` accepts (ADR 82). */
export const URL_PATTERN = String.raw`^[Hh][Tt][Tt][Pp][Ss]://[^\x00-\x20\x7F\\/?#@]+(?:[/?][^\x00-\x20\x7F\\#]*)?$`;

/**
 * Validates a receiver's URL by its text (contract: Webhooks); names are resolved, and their addresses checked, at
 * each request. Spaces, credentials and fragments are looked for in the raw text, because the URL parser drops or
 * repairs some of them.
 * @throws DomainError `invalid_request` with `field: "url"`
 */
export function readReceiverUrl(text: string, allowed: AllowedDestinations): ReceiverUrl {
  const urlError = (message: string) => invalidRequest('url', message);
  if (/[\u0000-\u0020\u007f\\]/.test(text))
    throw urlError('Must not contain spaces, control characters or backslashes');
  const authority = /^https:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) throw urlError('Must be an absolute https URL');
  if (authority.includes('@')) throw urlError('Must not contain credentials');
  if (text.includes('#')) throw urlError('Must not contain a fragment');
  const url = URL.parse(text);
  if (url === null) throw urlError('Must be an absolute https URL');

  const problem = findDestinationProblem(url, allowed);
  if (problem !== undefined) throw urlError(DESTINATION_PROBLEMS[problem]);
  const { hostname } = url;
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    href: url.href,
    origin: `https://${hostname}`,
    host: isIP(literal) === 0 ? hostname : reachedAddress(literal),
  };
}
