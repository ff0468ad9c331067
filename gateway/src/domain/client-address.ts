import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** The proxies whose word about the client counts; addresses and networks in CIDR form. */
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
 * The client's address: the peer's, or, as far as trusted proxies vouch for it, the right-most address of
 * X-Forwarded-For that is none of theirs. What stands left of that one anybody may have written.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trusted: TrustedProxies): string {
  if (!trusted.any || forwardedFor === undefined || !trusted.has(peer)) return canonical(peer);
  let client = peer;
  for (const hop of forwardedFor.split(',').reverse()) {
    const address = withoutPort(hop.trim());
    // Nobody can be told from what is no address: the proxy that wrote it is the last one known.
    if (parseAddress(address) === undefined) break;
    client = address;
    if (!trusted.has(address)) break;
  }
  return canonical(client);
}

/** What a client is counted by: an IPv6 subscriber has at least a /64, so one address of it says nothing. */
export function clientNetwork(address: string): string {
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return address;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}

const canonical = (text: string) => parseAddress(text)?.toString() ?? text;

/** IPv4 in IPv6's clothes (`::ffff:192.0.2.1`) is IPv4. */
const parseAddress = (text: string): Address | undefined => (ipaddr.isValid(text) ? ipaddr.process(text) : undefined);

function parseNetwork(entry: string): Network {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  const address = parseAddress(entry);
  if (address === undefined) throw new Error(`${entry} is neither an IP address nor a network`);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

const contains = ([network, bits]: Network, address: Address) =>
  network.kind() === address.kind() && address.match(network, bits);

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write it. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
}
