import { boundedCache, type Logger, openRedis, type Redis, redisReadiness } from '@tocsin/runtime';
import type { ServiceClient } from '@tocsin/service';
import CircuitBreaker from 'opossum';

/** The use of a key's current window. */
export interface WindowUsage {
  /** Includes the request that was just counted, as the other amounts. */
  requests: number;
  cost: number;
  bytes: number;
  /** Milliseconds to the window's end. */
  remaining: number;
}

/** What a request adds to its window besides itself. */
export interface Amounts {
  cost: number;
  bytes: number;
}

/** Counts requests by key in fixed windows of a minute. */
export interface RequestCounter {
  count(key: string, amounts?: Amounts): Promise<WindowUsage>;
}

export interface RequestCounterClient extends ServiceClient {
  readonly counter: RequestCounter;
}

/** Milliseconds. */
const WINDOW = 60_000;
const NOTHING: Amounts = { cost: 0, bytes: 0 };

/** One round trip for all amounts of a key; the first request of a window sets its end. */
const COUNT = `
  local used = {
    redis.call('hincrby', KEYS[1], 'requests', 1),
    redis.call('hincrby', KEYS[1], 'cost', ARGV[2]),
    redis.call('hincrby', KEYS[1], 'bytes', ARGV[3]),
    redis.call('pttl', KEYS[1])
  }
  if used[4] < 0 then
    redis.call('pexpire', KEYS[1], ARGV[1])
    used[4] = tonumber(ARGV[1])
  end
  return used`;

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
  const windows = boundedCache<string, Amounts & { requests: number; endsAt: number }>({ bytes });
  return {
    async count(key, amounts = NOTHING) {
      // Whole milliseconds: fractions do not add up exactly, and a new window would last a little over a minute.
      const now = Math.floor(performance.now());
      const current = windows.get(key);
      const isOver = current === undefined || current.endsAt <= now;
      const window = isOver ? { requests: 0, cost: 0, bytes: 0, endsAt: now + WINDOW } : current;
      if (isOver) windows.set(key, window);
      window.requests += 1;
      window.cost += amounts.cost;
      window.bytes += amounts.bytes;
      const { endsAt, ...usage } = window;
      return { ...usage, remaining: endsAt - now };
    },
  };
}

/** All gateways share the counts in Redis; while it is down or slow, each gateway counts for itself. */
function redisCounter(redis: Redis, log: Logger) {
  redis.defineCommand('countRequest', { numberOfKeys: 1, lua: COUNT });
  const inRedis = async (key: string, { cost, bytes }: Amounts): Promise<WindowUsage> => {
    // Without a wait for a connection.
    if (redis.status !== 'ready') throw new Error('redis is not ready');
    const [requests, allCost, allBytes, remaining] = await (redis as CountingRedis).countRequest(
      `usage:${key}`,
      WINDOW,
      cost,
      bytes,
    );
    return { requests, cost: allCost, bytes: allBytes, remaining };
  };
  const breaker = new CircuitBreaker(inRedis, {
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
  const counter: RequestCounter = { count: async (key, amounts = NOTHING) => breaker.fire(key, amounts) };
  return { breaker, counter };
}

/** With the command that `redisCounter` defines. */
type CountingRedis = Redis & {
  countRequest(
    key: string,
    window: number,
    cost: number,
    bytes: number,
  ): Promise<[requests: number, cost: number, bytes: number, remaining: number]>;
};
