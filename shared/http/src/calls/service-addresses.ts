import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { probe, type Target } from './probe.ts';
import { type ServiceHealth, serviceHealth } from './service-health.ts';

/** One address of a service: one process, or something that leads to one of several. */
export interface ServiceAddress extends Target {
  /** For log lines. */
  readonly name: string;
  readonly agent: http.Agent;
  readonly health: ServiceHealth;
  /** How many requests wait for their response; whoever sends one counts it. */
  underWay: number;
}

/** All addresses of a service. Requests are spread over those that are up. */
export interface ServiceAddresses {
  /** Never empty. */
  readonly all: readonly ServiceAddress[];
  /**
   * Returns the address with the fewest requests under way; of several the one that is next in turn. One that is draining
   * is used only if no other one is up. Returns `undefined` if all are down.
   * @param failed returned only if there is no other: a request to it has just failed
   */
  choose(failed?: ServiceAddress): ServiceAddress | undefined;
  close(): void;
}

export interface AddressChange {
  address: ServiceAddress;
  /** Whether the service still has an address that is not down. */
  available: boolean;
  failure: Error | undefined;
}

/** Times in milliseconds. Shorter than a process drains, so that it gets no request when it closes its connections. */
const CHECK_INTERVAL = 1_000;
const CHECKS_PER_LOOKUP = 5;
/** Shorter than servers keep idle connections, so that no request is sent on one that its server closes. */
const IDLE_TIMEOUT = 30_000;

/**
 * Keeps track of a service's addresses: those of its URLs, and all that the host name of a URL has, which are looked up
 * again and again. While there are several, each is checked every second.
 * @param options.resolve the system's look-up, except in tests
 */
export function serviceAddresses(options: {
  urls: readonly string[];
  onChange?: (change: AddressChange) => void;
  resolve?: (host: string) => Promise<readonly LookupAddress[]>;
}): ServiceAddresses {
  const { resolve = async (host: string) => systemLookup(host, { all: true }) } = options;
  let turn = 0;

  const open = (url: URL, ip?: LookupAddress): ServiceAddress => {
    const lookup = ip && lookupOf(ip);
    const { Agent } = url.protocol === 'https:' ? https : http;
    const agent = new Agent({
      keepAlive: true,
      maxFreeSockets: 256,
      timeout: IDLE_TIMEOUT,
      ...(lookup !== undefined && { lookup }),
    });
    const address: ServiceAddress = {
      name: ip === undefined ? url.host : `${url.host} (${ip.address})`,
      url,
      lookup,
      agent,
      underWay: 0,
      health: serviceHealth({
        probe: async () => probe({ url, lookup }),
        onChange: (state, failure) => {
          // The process closes them soon, or has done so already.
          if (state !== 'up') closeIdleConnections(agent);
          options.onChange?.({ address, available: choose() !== undefined, failure });
        },
      }),
    };
    return address;
  };

  const origins = options.urls.map((url) =>
    origin(new URL(url), { open, resolve, onReplace: () => (all = collect()) }),
  );
  const collect = () => origins.flatMap(({ addresses }) => [...addresses]);
  let all: readonly ServiceAddress[] = collect();

  const fewestUnderWay = (state: ServiceHealth['state'], failed: ServiceAddress | undefined) => {
    let best: ServiceAddress | undefined;
    for (let index = 0; index < all.length; index += 1) {
      const address = all[(turn + index) % all.length];
      if (address?.health.state !== state || address === failed) continue;
      if (best === undefined || address.underWay < best.underWay) best = address;
    }
    return best;
  };

  const choose = (failed?: ServiceAddress): ServiceAddress | undefined => {
    turn = (turn + 1) % all.length;
    const other = fewestUnderWay('up', failed) ?? fewestUnderWay('draining', failed);
    return other ?? (failed?.health.state === 'down' ? undefined : failed);
  };

  let checks = 0;
  const check = () => {
    checks += 1;
    const isDue = checks % CHECKS_PER_LOOKUP === 0 || all.some(({ health }) => health.state === 'down');
    if (isDue) for (const { refresh } of origins) void refresh();
    if (all.length > 1) for (const { health } of all) health.check('routine');
  };
  // There is nothing to check of one IP address: its requests notice when it is down.
  const mayBeSeveral = origins.length > 1 || origins.some(({ isName }) => isName);
  const timer = mayBeSeveral ? setInterval(check, CHECK_INTERVAL).unref() : undefined;
  for (const { refresh } of origins) void refresh();

  return {
    get all() {
      return all;
    },
    choose,
    close: () => {
      clearInterval(timer);
      for (const { close } of origins) close();
    },
  };
}

/** The addresses of one URL. */
interface Origin {
  /** Whether its host is a name, whose addresses are looked up. */
  readonly isName: boolean;
  readonly addresses: Iterable<ServiceAddress>;
  /** Looks the host name up. If that fails, the addresses stay as they are. */
  refresh(): Promise<void>;
  close(): void;
}

/** The key of the address that is looked up for each connection. */
const BY_NAME = '';

function origin(
  url: URL,
  {
    open,
    resolve,
    onReplace,
  }: {
    open: (url: URL, ip?: LookupAddress) => ServiceAddress;
    resolve: (host: string) => Promise<readonly LookupAddress[]>;
    /** Called after `addresses` has changed. */
    onReplace: () => void;
  },
): Origin {
  const addresses = new Map([[BY_NAME, open(url)]]);
  const isName = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0;
  let isResolving = false;

  const replace = (lookupAddresses: readonly LookupAddress[]) => {
    // One address of a name needs no pinning, and may be reached in more than one way: localhost is two.
    if (lookupAddresses.length === 0 || (lookupAddresses.length === 1 && addresses.has(BY_NAME))) return;
    const current = new Set(lookupAddresses.map(({ address }) => address));
    for (const [key, address] of addresses) {
      if (current.has(key)) continue;
      addresses.delete(key);
      address.health.retire();
      closeIdleConnections(address.agent);
    }
    for (const ip of lookupAddresses) if (!addresses.has(ip.address)) addresses.set(ip.address, open(url, ip));
    onReplace();
  };

  return {
    isName,
    get addresses() {
      return addresses.values();
    },
    refresh: async () => {
      if (!isName || isResolving) return;
      isResolving = true;
      const lookupAddresses = await resolve(url.hostname).catch(() => []);
      isResolving = false;
      replace(ofOneFamily(lookupAddresses));
    },
    close: () => {
      for (const { agent, health } of addresses.values()) {
        health.stop();
        agent.destroy();
      }
    },
  };
}

/** A process may have an address of each family; our images listen on those of IPv4. */
function ofOneFamily(lookupAddresses: readonly LookupAddress[]): readonly LookupAddress[] {
  const ipv4 = lookupAddresses.filter(({ family }) => family === 4);
  return ipv4.length > 0 ? ipv4 : lookupAddresses;
}

function lookupOf(ip: LookupAddress): LookupFunction {
  return (_host, options, callback) => {
    if (options.all === true) callback(null, [ip]);
    else callback(null, ip.address, ip.family);
  };
}

function closeIdleConnections({ freeSockets }: http.Agent): void {
  for (const sockets of Object.values(freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy();
}
