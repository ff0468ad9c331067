import { boundedCache, type Logger } from '@tocsin/runtime';
import { openRedis, type Redis, redisReadiness, refuseRedisCluster } from '@tocsin/runtime/redis';
import type { ServiceClient } from '@tocsin/service-host';
import CircuitBreaker from 'opossum';
import {
  type Addition,
  type Amounts,
  MINUTE,
  type RequestCounter,
  windowCounter,
  type WindowUsage,
} from './window-counter.ts';

export interface RequestCounterClient extends ServiceClient {
  readonly counter: RequestCounter;
}

/**
 * One round trip for all windows and their amounts; the first request of a window sets its end. ARGV is the length of the
 * window, requests, cost and bytes of each key; the result is four numbers for each key.
 */
const COUNT = `
  local used = {}
  for index, key in ipairs(KEYS) do
    for part, name in ipairs({'requests', 'cost', 'bytes'}) do
      used[#used + 1] = redis.call('hincrby', key, name, ARGV[4 * index - 3 + part])
    end
    local remaining = redis.call('pttl', key)
    if remaining < 0 then
      remaining = tonumber(ARGV[4 * index - 3])
      redis.call('pexpire', key, remaining)
    end
    used[#used + 1] = remaining
  end
  return used`;

/** The longest time that one round trip to Redis takes; milliseconds. */
const REDIS_TIMEOUT = 250;
const RETRY_AFTER = 1_000;
/** The most windows that are added to in one round trip: Redis does nothing else meanwhile. */
const MAX_KEYS = 100;

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
    refuseUnusable: async () => refuseRedisCluster(redis),
    close: async () => {
      await counter.stop();
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
export function memoryRequestCounter(options: { bytes?: number } = {}): RequestCounter {
  const add = memoryWindows(options);
  return {
    count: (key, { length = MINUTE, requests = 1, cost = 0, bytes = 0 } = {}) =>
      add({ key, length, requests, cost, bytes }),
  };
}

function memoryWindows({ bytes = MEMORY_BYTES }: { bytes?: number }): (addition: Addition) => WindowUsage {
  const windows = boundedCache<string, Amounts & { endsAt: number }>({ bytes });
  return ({ key, length, ...amounts }) => {
    // Whole milliseconds: fractions do not add up exactly, and a new window would last a little over a minute.
    const now = Math.floor(performance.now());
    const current = windows.get(key);
    const isOver = current === undefined || current.endsAt <= now;
    const window = isOver ? { requests: 0, cost: 0, bytes: 0, endsAt: now + length } : current;
    if (isOver) windows.set(key, window);
    window.requests += amounts.requests;
    window.cost += amounts.cost;
    window.bytes += amounts.bytes;
    const { endsAt, ...usage } = window;
    return { ...usage, remaining: endsAt - now };
  };
}

/** All gateways share the counts in Redis; while it is down or slow, each gateway counts for itself. */
function redisCounter(redis: Redis, log: Logger) {
  redis.defineCommand('countRequests', { lua: COUNT });
  const inRedis = async (additions: readonly Addition[]): Promise<WindowUsage[]> => {
    // Without a wait for a connection.
    if (redis.status !== 'ready') throw new Error('redis is not ready');
    const keys = additions.map(({ key }) => `usage:${key}`);
    const amounts = additions.flatMap(({ length, requests, cost, bytes }) => [length, requests, cost, bytes]);
    const used = await (redis as CountingRedis).countRequests(keys.length, ...keys, ...amounts);
    return additions.map((_, index) => {
      const [requests = 0, cost = 0, bytes = 0, remaining = 0] = used.slice(4 * index, 4 * index + 4);
      return { requests, cost, bytes, remaining };
    });
  };
  const breaker = new CircuitBreaker(inRedis, {
    timeout: REDIS_TIMEOUT,
    resetTimeout: RETRY_AFTER,
    // Opens at the first failure, since the fallback costs nothing.
    errorThresholdPercentage: 0,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
  });
  const inMemory = memoryWindows({});
  breaker.fallback((additions: readonly Addition[]) => additions.map(inMemory));
  breaker.on('open', () => log.warn('cannot count requests in redis; counting in this process'));
  breaker.on('close', () => log.info('counting requests in redis again'));
  const counter = windowCounter({ add: async (additions) => breaker.fire(additions), maxKeys: MAX_KEYS });
  return { breaker, counter };
}

/** With the command that `redisCounter` defines. */
type CountingRedis = Redis & {
  countRequests(keys: number, ...keysAndArguments: (string | number)[]): Promise<number[]>;
};
