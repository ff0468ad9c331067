import { type AllowedNetwork, isAllowedByNetwork } from './allowed-networks.ts';
import { isLocalName, isLoopbackAddress, isPublicAddress, literalOf, reachedAddress } from './public-address.ts';

/** What requests may reach besides public addresses on port 443. */
export interface AllowedDestinations {
  /** `host:port` pairs, in the form that `hostAndPort` returns, that may be on loopback; for tests and demos. */
  testReceivers: ReadonlySet<string>;
  /** What an operator has opened. */
  networks: readonly AllowedNetwork[];
}

/** The `host:port` of an https URL, as `WEBHOOK_TEST_RECEIVERS` lists it. */
export const hostAndPort = (url: URL): string => `${url.hostname}:${portOf(url)}`;

const portOf = ({ port }: URL): number => (port === '' ? 443 : Number(port));

/** Returns a function for `SafeHttpOptions.allows`. */
export const publicOrAllowed =
  ({ testReceivers, networks }: AllowedDestinations) =>
  (address: string, url: URL): boolean =>
    (isPublicAddress(address) && portOf(url) === 443) ||
    (testReceivers.has(hostAndPort(url)) && isLoopbackAddress(address)) ||
    [address, reachedAddress(address)].some((each) => isAllowedByNetwork(networks, each, portOf(url)));

/** What `findDestinationProblem` finds; `name`: a name that is local, or no host name. */
export type DestinationProblem = 'port' | 'address' | 'name';

/** How an operator opens other destinations, to be part of a message. */
export const HOW_TO_ALLOW =
  'an operator can open others with WEBHOOK_ALLOWED_NETWORKS (and NO_PROXY, if there is a proxy), or with WEBHOOK_TEST_RECEIVERS for tests';

/** What a client is told of each problem. */
export const DESTINATION_PROBLEMS: Record<DestinationProblem, string> = {
  port: `Must use port 443; ${HOW_TO_ALLOW}`,
  address: `Must not be a private or special-purpose address; ${HOW_TO_ALLOW}`,
  name: `Must have a public host name; ${HOW_TO_ALLOW}`,
};

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const HOST_NAME = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`);
const isLocalhost = (host: string) => /(?:^|\.)localhost$/.test(host);

/**
 * Why no request may go to an https URL, as far as its text shows it. Names are resolved, and their addresses checked,
 * at each request. Where a network is open on the port, the name may be one that only its name servers know.
 */
export function findDestinationProblem(url: URL, allowed: AllowedDestinations): DestinationProblem | undefined {
  if (allowed.testReceivers.has(hostAndPort(url))) return undefined;
  const { hostname } = url;
  const hasNetwork = allowed.networks.some(({ port }) => port === portOf(url));
  if (url.port !== '' && !hasNetwork) return 'port';
  const allows = publicOrAllowed(allowed);
  const literal = literalOf(url);
  if (literal !== undefined) return allows(literal, url) ? undefined : 'address';
  if (!HOST_NAME.test(hostname)) return 'name';
  if (isLocalhost(hostname)) return LOOPBACK.every((address) => allows(address, url)) ? undefined : 'name';
  const isPublicName = hostname.includes('.') && !isLocalName(hostname);
  return isPublicName || hasNetwork ? undefined : 'name';
}

/** What `systemResolver` returns for `localhost`. */
const LOOPBACK = ['127.0.0.1', '::1'];
