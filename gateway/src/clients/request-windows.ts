import type { Logger, Redis } from '@tocsin/runtime';
import CircuitBreaker from 'opossum';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';

/** A key's requests in its current window. */
export interface Count {
  /** This one included. */
  requests: number;
  /** Milliseconds to the window's end. */
  remaining: number;
}

/** Counts requests in fixed windows of a minute. */
export interface RequestWindows {
  count(key: string): Promise<Count>;
  stop(): void;
}

const WINDOW_SECONDS = 60;
// Limits differ by key and change while a window runs, so they are judged by whoever asks.
const UNLIMITED = { points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS };

const toCount = ({ consumedPoints, msBeforeNext }: RateLimiterRes): Count => ({
  requests: consumedPoints,
  remaining: msBeforeNext,
});

/** In this process alone: for one gateway, or while there is no Redis. */
export function memoryWindows(): RequestWindows {
  const limiter = new RateLimiterMemory(UNLIMITED);
  return { count: async (key) => toCount(await limiter.consume(key)), stop: () => undefined };
}

/** A request does not wait longer for Redis than this. */
const PATIENCE = 250;
const RETRY_AFTER = 1_000;

/** Shared by all gateways; while Redis is down or slow, each counts for itself. */
export function redisWindows(redis: Redis, log: Logger): RequestWindows {
  const limiter = new RateLimiterRedis({
    ...UNLIMITED,
    storeClient: redis,
    keyPrefix: 'requests',
    rejectIfRedisNotReady: true,
  });
  const own = memoryWindows();
  const breaker = new CircuitBreaker(async (key: string) => toCount(await limiter.consume(key)), {
    timeout: PATIENCE,
    resetTimeout: RETRY_AFTER,
    // One failure is enough: the other way of counting costs nothing.
    errorThresholdPercentage: 0,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
  });
  breaker.fallback(own.count);
  breaker.on('open', () => log.warn('redis does not count requests, this process does'));
  breaker.on('close', () => log.info('redis counts requests again'));
  return { count: async (key) => breaker.fire(key), stop: () => breaker.shutdown() };
}
