import { Redis } from 'ioredis';
import type { ReadinessCheck } from './health.ts';
import type { Logger } from './logger.ts';

export type { Redis };

/**
 * Opens a connection that fails fast: Redis holds only copies of data, so no request may wait for it.
 * @param options `sendsTogether`: commands that are called while others are executed are then sent in one write
 */
export function openRedis(options: { url: string; namespace: string; log: Logger; sendsTogether?: boolean }): Redis {
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

export function redisReadiness(redis: Redis): ReadinessCheck {
  return { name: 'redis', required: false, check: async () => redis.ping().then(() => true) };
}
