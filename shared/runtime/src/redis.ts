import { Redis } from 'ioredis';
import type { ReadinessCheck } from './health.ts';
import type { Logger } from './logger.ts';

export type { Redis };

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
  const redis = new Redis(options.url, {
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

/** Writes as the work does: a replica answers everything else. */
export function redisReadiness(redis: Redis): ReadinessCheck {
  const check = async () => redis.set('health', '', 'PX', HEALTH_TTL).then(() => true);
  return { name: 'redis', required: false, check };
}
