import { ConfigError, setting } from './config.ts';

const HOST_AND_PORT = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\]):[1-9]\d{0,4}$/;

/** For services that send requests to addresses chosen by clients. */
export const receiverSettings = {
  /** Loopback addresses that tests and demos may use: exact `host:port` pairs. */
  WEBHOOK_TEST_RECEIVERS: setting.list
    .transform((pairs) => pairs.map((pair) => pair.toLowerCase()))
    .refine((pairs) => pairs.every((pair) => HOST_AND_PORT.test(pair)), 'must be host:port pairs, comma-separated')
    .default([]),
  /** What may be reached besides public addresses on port 443: networks with a port, as `readNetworks` reads them. */
  WEBHOOK_ALLOWED_NETWORKS: setting.list.default([]),
};

/**
 * The `host:port` pairs that may be on loopback.
 * @throws ConfigError in production, where none are allowed
 */
export function testReceiversOf(read: { NODE_ENV: string; WEBHOOK_TEST_RECEIVERS: string[] }): ReadonlySet<string> {
  if (read.NODE_ENV === 'production' && read.WEBHOOK_TEST_RECEIVERS.length > 0) {
    throw new ConfigError('WEBHOOK_TEST_RECEIVERS: opens loopback addresses and must not be set in production');
  }
  return new Set(read.WEBHOOK_TEST_RECEIVERS);
}
