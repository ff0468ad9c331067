import { boundedCache, type Logger, openRedis, type Redis, redisReadiness } from '@tocsin/runtime';
import type { ServiceClient } from '@tocsin/service';
import CircuitBreaker from 'opossum';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';

/** The use of a key's current window. */
export interface WindowUsage {
  /** Includes the request that was just counted. */
  requests: number;
  /** Milliseconds to the window's end. */
  remaining: number;
}

/** Counts requests by key in fixed windows of a minute. */
export interface RequestCounter {
  count(key: string): Promise<WindowUsage>;
}

export interface RequestCounterClient extends ServiceClient {
  readonly counter: RequestCounter;
}

const WINDOW_SECONDS = 60;
const WINDOW = WINDOW_SECONDS * 1_000;
// The limiter only counts: limits differ by key and may change during a window, so the caller compares.
const UNLIMITED = { points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS };

/** The longest time that a request waits for Redis; milliseconds. */
const REDIS_TIMEOUT = 250;
const RETRY_AFTER = 1_000;

/** Counts in Redis, or with the counter of the overrides. */
export function openRequestCounter(options: {
  config: { redisUrl: string; namespace: string };
  log: Logger;
  override: RequestCounter | undefined;
}): RequestCounterClient {
  const { config, log, override } = options;
  if (override !== undefined) return { counter: override, close: () => undefined };
  const redis = openRedis({ url: config.redisUrl, namespace: config.namespace, log });
  const { breaker, counter } = redisCounter(redis, log);
  return {
    counter,
    readinessCheck: redisReadiness(redis),
    close: () => {
      breaker.shutdown();
      redis.disconnect();
    },
  };
}

/** Bytes of windows that are counted in this process; about 65,000 of them. */
const MEMORY_BYTES = 16 * 1_048_576;

/**
 * Counts in this process: for a single gateway, or while Redis is down. However many addresses send requests, the
 * windows take a bounded amount of memory: beyond it, those that were used least recently start again.
 */
export function memoryRequestCounter({ bytes = MEMORY_BYTES }: { bytes?: number } = {}): RequestCounter {
  const windows = boundedCache<string, { requests: number; endsAt: number }>({ bytes });
  return {
    async count(key) {
      // Whole milliseconds: fractions do not add up exactly, and a new window would last a little over a minute.
      const now = Math.floor(performance.now());
      const current = windows.get(key);
      const window = current === undefined || current.endsAt <= now ? { requests: 0, endsAt: now + WINDOW } : current;
      if (window !== current) windows.set(key, window);
      window.requests += 1;
      return { requests: window.requests, remaining: window.endsAt - now };
    },
  };
}

/** All gateways share the counts in Redis; while it is down or slow, each gateway counts for itself. */
function redisCounter(redis: Redis, log: Logger) {
  const limiter = new RateLimiterRedis({
    ...UNLIMITED,
    storeClient: redis,
    keyPrefix: 'requests',
    rejectIfRedisNotReady: true,
  });
  const breaker = new CircuitBreaker(async (key: string) => toWindowUsage(await limiter.consume(key)), {
    timeout: REDIS_TIMEOUT,
    resetTimeout: RETRY_AFTER,
    // Opens at the first failure, since the fallback costs nothing.
    errorThresholdPercentage: 0,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
  });
  breaker.fallback(memoryRequestCounter().count);
  breaker.on('open', () => log.warn('cannot count requests in redis; counting in this process'));
  breaker.on('close', () => log.info('counting requests in redis again'));
  const counter: RequestCounter = { count: async (key) => breaker.fire(key) };
  return { breaker, counter };
}

const toWindowUsage = ({ consumedPoints, msBeforeNext }: RateLimiterRes): WindowUsage => ({
  requests: consumedPoints,
  remaining: msBeforeNext,
});
