import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** More than the receivers of one name need. A name with thousands of addresses must not make us connect to all. */
const MAX_ADDRESSES = 8;

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether this machine can be the sender to public IPv6 addresses (RFC 6724, rules 1 and 5). */
const hasPublicIpv6 = (): boolean =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .some(({ address, family }) => family === 'IPv6' && ipaddr.IPv6.parse(address).match(GLOBAL_UNICAST));

/**
 * The addresses to try, each once, by turns of IPv6 and IPv4 (RFC 8305, section 4). A machine without a public IPv6
 * address begins with IPv4.
 */
export function inOrder(addresses: readonly string[], ipv6First = hasPublicIpv6()): string[] {
  const unique = [...new Set(addresses)];
  const ofFirst = unique.filter((address) => isIPv6(address) === ipv6First);
  const ofSecond = unique.filter((address) => isIPv6(address) !== ipv6First);
  return Array.from({ length: Math.max(ofFirst.length, ofSecond.length) }, (_, turn) => [ofFirst[turn], ofSecond[turn]])
    .flat()
    .filter((address) => address !== undefined)
    .slice(0, MAX_ADDRESSES);
}
