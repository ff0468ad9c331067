import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { literalOf } from './public-address.ts';

/** The proxy of an operator, and what is requested without it. */
export interface EgressProxy {
  /** The proxy for an https URL; undefined: none. */
  urlFor(url: URL): URL | undefined;
}

/** Hosts that an item of `NO_PROXY` names, on one port or on all. */
interface Exception {
  matches: (host: string) => boolean;
  port: string | undefined;
}

const ITEM = /^(?<host>\[[^\]]+\]|[^:]+|[^:]*:[^:]*:.*?)(?::(?<port>\d+))?$/;
const PORT = { 'https:': '443', 'http:': '80' };

/**
 * @param options.url with the scheme `http:` or `https:`; its credentials are sent to the proxy
 * @param options.exceptions as in `NO_PROXY`: `*`, names with their subdomains, IP addresses and networks (for hosts that
 *   are addresses: names are not resolved), each also with a port
 */
export function egressProxy({ url: proxy, exceptions }: { url: URL; exceptions: readonly string[] }): EgressProxy {
  const direct = exceptions.map(readException);
  return {
    urlFor: (url) => {
      if (url.protocol !== 'https:') return undefined;
      const host = literalOf(url) ?? url.hostname.replace(/\.$/, '');
      const port = url.port === '' ? PORT['https:'] : url.port;
      const isDirect = direct.some((item) => item.matches(host) && (item.port === undefined || item.port === port));
      return isDirect ? undefined : proxy;
    },
  };
}

function readException(item: string): Exception {
  if (item === '*') return { matches: () => true, port: undefined };
  const { host = item, port } = isIP(item) === 0 ? (ITEM.exec(item)?.groups ?? {}) : {};
  const text = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (isIP(text) !== 0) return { matches: inNetwork(`${text}/${isIP(text) === 4 ? 32 : 128}`), port };
  if (ipaddr.isValidCIDR(text)) return { matches: inNetwork(text), port };
  const name = text.replace(/^\*?\./, '');
  return { matches: (other) => other === name || other.endsWith(`.${name}`), port };
}

function inNetwork(cidr: string): (host: string) => boolean {
  const [network, prefix] = ipaddr.parseCIDR(cidr);
  return (host) => {
    if (isIP(host) === 0) return false;
    const address = ipaddr.process(host);
    return address.kind() === network.kind() && address.match(network, prefix);
  };
}
