import { Redis } from 'ioredis';
import type { Dependency } from './health.ts';
import type { Logger } from './logger.ts';

export type { Redis };

/** A connection that fails fast: nothing of ours may wait for Redis, which holds no truth. */
export function openRedis(options: { url: string; namespace: string; log: Logger }): Redis {
  const redis = new Redis(options.url, {
    keyPrefix: `${options.namespace}:`,
    connectTimeout: 2_000,
    // A process that ends does not wait for a Redis that is gone already.
    disconnectTimeout: 500,
    commandTimeout: 500,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
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

export function redisDependency(redis: Redis): Dependency {
  return { name: 'redis', vital: false, check: async () => redis.ping().then(() => true) };
}
