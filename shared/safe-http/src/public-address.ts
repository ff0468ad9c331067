import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Public addresses that reach the cloud provider's internal services from inside its network. The addresses that
 * other clouds use for this (169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254) are already in special
 * ranges.
 */
const CLOUD_INTERNAL = [
  // Azure: host agent, DNS and health probes.
  '168.63.129.16/32',
  // IBM Cloud: private service endpoints.
  '161.26.0.0/16',
  '166.8.0.0/14',
  // Google Cloud: private access to Google APIs.
  '199.36.153.4/30',
  '199.36.153.8/30',
].map((range) => ipaddr.IPv4.parseCIDR(range));

/** Reserved for IETF protocol assignments; ipaddr.js knows only some of its subranges. */
const IETF_PROTOCOLS = ipaddr.IPv6.parseCIDR('2001::/23');

/** The prefix by which DNS64 and NAT64 reach IPv4 addresses from a network that has only IPv6 (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * The address that packets for an address reach, in its canonical text: of a NAT64 address the IPv4 address inside, if
 * that is public. NAT64 must not translate others (RFC 6052, section 3.1).
 */
export function reachedAddress(text: string): string {
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6) || !address.match(NAT64)) return address.toString();
  const inside = address.toByteArray().slice(12).join('.');
  return isPublicAddress(inside) ? inside : address.toString();
}

/**
 * Whether an IP address belongs to the public internet. IPv6 addresses must also be in the global unicast range:
 * `::7f00:1`, a deprecated form of 127.0.0.1, is in no special range.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(reachedAddress(text));
  if (address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv4) return !CLOUD_INTERNAL.some((range) => address.match(range));
  return address.match(GLOBAL_UNICAST) && !address.match(IETF_PROTOCOLS);
}

/** Names that do not exist in the public DNS, with all their subdomains. */
const LOCAL_NAMES = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa)\.?$/;

/** Whether a host name, in the form of `URL.hostname`, can only be a local one. */
export const isLocalName = (host: string): boolean => LOCAL_NAMES.test(host);

export function isLoopbackAddress(text: string): boolean {
  return isIP(text) !== 0 && ipaddr.process(text).range() === 'loopback';
}

/** The canonical text of an address, so that limits count each address once. IPv4-mapped IPv6 becomes IPv4. */
export function canonicalAddress(text: string): string {
  return ipaddr.process(text).toString();
}

/** The address that a URL has instead of a name. */
export function literalOf({ hostname }: URL): string | undefined {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(literal) === 0 ? undefined : literal;
}
