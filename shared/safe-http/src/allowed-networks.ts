import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A network that an operator has opened, on one port. */
export interface AllowedNetwork {
  /** In CIDR notation. */
  cidr: string;
  port: number;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const MAX_NETWORKS = 100;
const ITEM = /^(?<address>[0-9a-fA-F.:]+)\/(?<prefix>\d{1,3}):(?<port>[1-9]\d{0,4})$/;

/** Ranges of this machine and its link, of many receivers, and of IPv6 addresses that contain an IPv4 address. */
const NAMED_ALONE = new Set([
  ...['unspecified', 'loopback', 'linkLocal', 'multicast', 'broadcast'],
  ...['ipv4Mapped', 'rfc6145', 'rfc6052', '6to4', 'teredo'],
]);

/** Where cloud providers answer with credentials of the machine, outside of the link-local range; and `::127.0.0.1`. */
const METADATA = [
  // Azure, Alibaba, Oracle (two), AWS, Google Cloud, Scaleway.
  ...['168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32', 'fd00:c1::a9fe:a9fe/128'],
  ...['fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:42::42/128'],
  '::/96',
].map((range) => ipaddr.parseCIDR(range));

const isIn = (address: Address, [network, prefix]: [Address, number]): boolean =>
  address.kind() === network.kind() && address.match([network, prefix]);

const mustBeNamedAlone = (address: Address): boolean =>
  NAMED_ALONE.has(address.range()) || METADATA.some((range) => isIn(address, range));

/**
 * Whether one of the networks opens an address on a port. Loopback, link-local and metadata addresses, among others,
 * are opened only by a network that is this one address.
 * @param text an address as `canonicalAddress` returns it
 */
export function isAllowedByNetwork(networks: readonly AllowedNetwork[], text: string, port: number): boolean {
  const address = ipaddr.process(text);
  const isRestricted = mustBeNamedAlone(address);
  return networks.some(({ cidr, port: allowed }) => {
    const [network, prefix] = ipaddr.parseCIDR(cidr);
    return allowed === port && isIn(address, [network, prefix]) && (!isRestricted || prefix === bitsOf(network));
  });
}

/** Reads networks such as `10.0.0.0/8:8443` and `fd00::/8:443`. Each problem names its item. */
export function readNetworks(items: readonly string[]): { networks: AllowedNetwork[]; problems: string[] } {
  if (items.length > MAX_NETWORKS) return { networks: [], problems: [`must have at most ${MAX_NETWORKS} networks`] };
  const networks: AllowedNetwork[] = [];
  const problems: string[] = [];
  for (const item of items) {
    const network = readNetwork(item);
    if (typeof network === 'string') problems.push(network);
    else networks.push(network);
  }
  return { networks, problems };
}

/** Returns what is wrong, or the network. */
function readNetwork(item: string): AllowedNetwork | string {
  const malformed = `must be networks with a port, such as 10.0.0.0/8:8443 or fd00::/8:443, comma-separated, not ${item}`;
  const { address = '', prefix = '', port = '' } = ITEM.exec(item)?.groups ?? {};
  if (isIP(address) === 0) return malformed;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) return malformed;
  if (Number(prefix) > bitsOf(parsed) || Number(port) > 65_535) return malformed;
  const cidr = `${address}/${Number(prefix)}`;
  const kind = parsed instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6;
  const first = kind.networkAddressFromCIDR(cidr);
  if (first.toString() !== parsed.toString()) {
    return `the network of ${item} begins at ${first.toString()}: must be ${first.toString()}/${prefix}:${port}`;
  }
  const last = kind.broadcastAddressFromCIDR(cidr);
  const isOneRange = first.range() === last.range() && NAMED_ALONE.has(first.range());
  if (isOneRange && Number(prefix) !== bitsOf(parsed)) {
    return `${item} has only loopback, link-local or other special addresses, which must be named one by one (/${bitsOf(parsed)})`;
  }
  return { cidr: `${first.toString()}/${Number(prefix)}`, port: Number(port) };
}

const bitsOf = (address: Address): 32 | 128 => (address instanceof ipaddr.IPv4 ? 32 : 128);
