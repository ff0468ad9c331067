import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** The proxies whose forwarding headers are used: addresses, and networks in CIDR notation. */
export interface TrustedProxies {
  readonly any: boolean;
  has(address: string): boolean;
}

/** @throws Error naming the first entry that is neither an address nor a network */
export function trustedProxies(entries: readonly string[]): TrustedProxies {
  const networks = entries.map(parseNetwork);
  return {
    any: networks.length > 0,
    has: (text) => {
      const address = parseAddress(text);
      return address !== undefined && networks.some((network) => contains(network, address));
    },
  };
}

/**
 * Returns the client's address: the peer's or, if the peer is a trusted proxy, the right-most address of
 * X-Forwarded-For that is not a trusted proxy. The client itself may have written everything to the left of that
 * address.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trusted: TrustedProxies): string {
  if (!trusted.any || forwardedFor === undefined || !trusted.has(peer)) return canonical(peer);
  let client = peer;
  for (const hop of forwardedFor.split(',').reverse()) {
    const address = withoutPort(hop.trim());
    // Not an address, so the last known hop is the proxy that added this entry.
    if (parseAddress(address) === undefined) break;
    client = address;
    if (!trusted.has(address)) break;
  }
  return canonical(client);
}

/** The network by which a client's requests are counted: an IPv6 client can use any address of its /64. */
export function clientNetwork(address: string): string {
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return address;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}

const canonical = (text: string) => parseAddress(text)?.toString() ?? text;

/** Reads IPv4-mapped IPv6 (`::ffff:192.0.2.1`) as IPv4. */
const parseAddress = (text: string): Address | undefined => (ipaddr.isValid(text) ? ipaddr.process(text) : undefined);

function parseNetwork(entry: string): Network {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  const address = parseAddress(entry);
  if (address === undefined) throw new Error(`${entry} is neither an IP address nor a network`);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

const contains = ([network, bits]: Network, address: Address) =>
  network.kind() === address.kind() && address.match(network, bits);

/** Removes the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
}
