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

/**
 * Whether an IP address belongs to the public internet. IPv6 addresses must also be in the global unicast range:
 * `::7f00:1`, a deprecated form of 127.0.0.1, is in no special range.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
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
