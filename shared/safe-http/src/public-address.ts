import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an IP address belongs to the public internet. For IPv6 not being special is not enough: `::7f00:1`, an old
 * spelling of 127.0.0.1, is in no special range, so everything outside the space that is handed out is refused.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

export function isLoopbackAddress(text: string): boolean {
  return isIP(text) !== 0 && ipaddr.process(text).range() === 'loopback';
}

/** One spelling an address, so that each is counted once: IPv4 in IPv6 is unwrapped. */
export function canonicalAddress(text: string): string {
  return ipaddr.process(text).toString();
}

/**
 * Who may be connected to: public addresses, and loopback for exactly these pairs, which tests and demos name.
 * @param named `host:port` pairs, as a URL spells them
 * @returns the rule for `SafeHttpOptions.allows`
 */
export const publicOrNamed = (named: ReadonlySet<string>) => (address: string, hostAndPort: string) =>
  isPublicAddress(address) || (named.has(hostAndPort) && isLoopbackAddress(address));
