import { ConfigError, setting } from '@tocsin/runtime';
import { z } from 'zod';
import { readNetworks } from './allowed-networks.ts';
import type { AllowedDestinations } from './destinations.ts';
import { egressProxy, type EgressProxy } from './proxy.ts';

const HOST_AND_PORT = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\]):[1-9]\d{0,4}$/;

/** A proxy, with `http:` as the scheme if none is named, as other programs read it. */
const proxyUrl = z
  .string()
  .transform((text) => (text.includes('://') ? text : `http://${text}`))
  .refine(isProxyUrl, 'must be the URL of a proxy, such as http://user:password@proxy.example.com:3128')
  .transform((text) => new URL(text))
  .optional();
const exceptions = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((item) => item !== ''))
  .optional();

/** For services that send requests to addresses chosen by clients. */
export const receiverSettings = {
  /** Loopback addresses that tests and demos may use: exact `host:port` pairs. */
  WEBHOOK_TEST_RECEIVERS: setting.list
    .transform((pairs) => pairs.map((pair) => pair.toLowerCase()))
    .refine((pairs) => pairs.every((pair) => HOST_AND_PORT.test(pair)), 'must be host:port pairs, comma-separated')
    .default([]),
  /** What may be reached besides public addresses on port 443: networks with a port, as `readNetworks` reads them. */
  WEBHOOK_ALLOWED_NETWORKS: setting.list.default([]),
  /** The proxy for requests to the outside, and what is requested without it. Those in lower case take precedence. */
  HTTPS_PROXY: proxyUrl,
  https_proxy: proxyUrl,
  NO_PROXY: exceptions,
  no_proxy: exceptions,
};

type ReceiverSettings = { NODE_ENV: string } & z.output<z.ZodObject<typeof receiverSettings>>;

/** How requests leave the installation. */
export interface Egress {
  allowed: AllowedDestinations;
  proxy: EgressProxy | undefined;
}

/** @throws ConfigError in production, where no test receivers are allowed */
export function egressOf(read: ReceiverSettings): Egress {
  const { NODE_ENV, WEBHOOK_TEST_RECEIVERS: testReceivers, WEBHOOK_ALLOWED_NETWORKS: networks } = read;
  if (NODE_ENV === 'production' && testReceivers.length > 0) {
    throw new ConfigError('WEBHOOK_TEST_RECEIVERS: opens loopback addresses and must not be set in production');
  }
  const url = read.https_proxy ?? read.HTTPS_PROXY;
  // Test receivers are on this machine.
  const direct = [...(read.no_proxy ?? read.NO_PROXY ?? []), ...testReceivers];
  return {
    allowed: { testReceivers: new Set(testReceivers), networks: readNetworks(networks).networks },
    proxy: url && egressProxy({ url, exceptions: direct }),
  };
}

/** Lines for `readConfig`. */
export const egressProblems = ({
  WEBHOOK_ALLOWED_NETWORKS: networks,
}: Pick<ReceiverSettings, 'WEBHOOK_ALLOWED_NETWORKS'>): string[] =>
  readNetworks(networks).problems.map((line) => `WEBHOOK_ALLOWED_NETWORKS: ${line}`);

function isProxyUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') return false;
  try {
    decodeURIComponent(url.username + url.password);
    return true;
  } catch {
    return false;
  }
}
