import { createRequire } from 'node:module';
import type { Redis, RedisOptions } from 'ioredis';
import { urlsOfHosts } from './hosts.ts';
import type { ReadinessCheck } from './health.ts';
import type { Logger } from './logger.ts';
import { ownProperty } from './own-properties.ts';

export type { Redis };

const require = createRequire(import.meta.url);

/** Milliseconds between two attempts to find a server that may be written to: meanwhile a replica can be read. */
const RECONNECT_PAUSE = 1_000;
/** Milliseconds. */
const HEALTH_TTL = 60_000;

/**
 * Opens a connection that fails fast: Redis holds only copies of data, so no request may wait for it.
 * @param options `sendsTogether`: commands that are called while others are executed are then sent in one write
 */
export function openRedis(options: { url: string; namespace: string; log: Logger; sendsTogether?: boolean }): Redis {
  let reconnectFrom = 0;
  // Loaded here: a command of the operator uses Redis only where there is one.
  const { Redis: Client } = require('ioredis') as typeof import('ioredis');
  const redis = new Client({
    ...serverOf(options.url),
    keyPrefix: `${options.namespace}:`,
    connectTimeout: 2_000,
    // A stopping process does not wait for a Redis that is down.
    disconnectTimeout: 500,
    commandTimeout: 500,
    // A command that times out leaves the connection open, and a server that has vanished would be waited for until TCP
    // gives up: reconnect instead, which also drops the commands that are still queued.
    socketTimeout: 1_000,
    keepAlive: 5_000,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    enableAutoPipelining: options.sendsTogether ?? false,
    retryStrategy: (attempt) => Math.min(100 * attempt, 2_000),
    // After a failover the address may lead to the new primary, while this connection still leads to the old one.
    reconnectOnError: ({ message }) => {
      const isDue = message.includes('READONLY') && performance.now() >= reconnectFrom;
      if (isDue) reconnectFrom = performance.now() + RECONNECT_PAUSE;
      return isDue;
    },
  });
  let reported = false;
  redis.on('error', (error: Error) => {
    if (!reported) options.log.warn({ err: error }, 'redis is down');
    reported = true;
  });
  redis.on('ready', () => {
    if (reported) options.log.info('redis is back');
    reported = false;
  });
  return redis;
}

/** By scheme: whether the connection is encrypted, and whether the hosts are Sentinels, which know the server. */
const SCHEMES: Readonly<Record<string, { isEncrypted: boolean; isSentinel: boolean }>> = {
  'redis:': { isEncrypted: false, isSentinel: false },
  'rediss:': { isEncrypted: true, isSentinel: false },
  'redis-sentinel:': { isEncrypted: false, isSentinel: true },
  'rediss-sentinel:': { isEncrypted: true, isSentinel: true },
};

function serverOf(url: string): Omit<RedisOptions, 'replyMapping'> {
  const hosts = urlsOfHosts(url).map((each) => new URL(each));
  const [{ protocol, username, password, pathname, searchParams }] = hosts as [URL];
  const { isEncrypted, isSentinel } = ownProperty(SCHEMES, protocol) ?? {};
  const addresses = hosts.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (isSentinel === true ? '26379' : '6379')),
  }));
  const optional = (name: keyof RedisOptions, value: string | null) =>
    value !== null && value !== '' && { [name]: decodeURIComponent(value) };
  return {
    ...optional('username', username),
    ...optional('password', password),
    db: Number(searchParams.get('db') ?? pathname.slice(1)),
    ...(searchParams.has('family') && { family: Number(searchParams.get('family')) }),
    ...(isEncrypted === true && { tls: {} }),
    ...(isSentinel !== true && addresses[0]),
    ...(isSentinel === true && {
      sentinels: addresses,
      name: searchParams.get('master') ?? 'mymaster',
      ...optional('sentinelUsername', searchParams.get('sentinelUsername')),
      ...optional('sentinelPassword', searchParams.get('sentinelPassword')),
      sentinelCommandTimeout: 500,
      ...(isEncrypted === true && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
    }),
  };
}

/**
 * So that a process ends at its start that uses a Redis Cluster: commands with several keys fail there. A Redis that is down
 * is not waited for.
 * @throws Error
 */
export async function refuseRedisCluster(redis: Redis): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (redis.status === 'ready') resolve();
  for (const event of ['ready', 'error', 'close', 'end']) redis.once(event, () => resolve());
  await promise;
  const info = await redis.info('server').catch(() => '');
  if (/^redis_mode:cluster\s*$/m.test(info))
    throw new Error(
      'REDIS_URL: must not be a Redis Cluster, which is not supported: use one Redis or, for several machines, Sentinels',
    );
}

/** Writes as the work does: a replica answers everything else. */
export function redisReadiness(redis: Redis): ReadinessCheck {
  const check = async () => redis.set('health', '', 'PX', HEALTH_TTL).then(() => true);
  return { name: 'redis', required: false, check };
}
