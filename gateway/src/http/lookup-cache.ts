import { boundedCache, estimateHeapBytes } from '@tocsin/runtime';

/** A cache in front of a look-up; a value is never older than the cache's TTL. */
export interface LookupCache<Value> {
  get(key: string): Promise<Value | undefined>;
  /** Removes everything; a look-up in progress is not cached either. */
  clear(): void;
}

/**
 * Concurrent look-ups of one key are one. Misses are cached, too, separately from values, so that invented keys evict
 * no value. The age of both counts from before the look-up, because that is when the result was true.
 */
export function lookupCache<Value extends object>(options: {
  /** Of the values, and once more of the misses. */
  bytes: number;
  /** Milliseconds. */
  ttl: number;
  find: (key: string) => Promise<Value | undefined>;
}): LookupCache<Value> {
  const values = boundedCache<string, Value>({ bytes: options.bytes, sizeOf: estimateHeapBytes, ttl: options.ttl });
  const misses = boundedCache<string, number>({ bytes: options.bytes, ttl: options.ttl });
  let pending = new Map<string, Promise<Value | undefined>>();

  const lookUp = async (key: string): Promise<Value | undefined> => {
    const generation = pending;
    const start = performance.now();
    try {
      const value = await options.find(key);
      // After a clear, this value may be the outdated one.
      if (generation === pending) {
        if (value === undefined) misses.set(key, 1, { start });
        else values.set(key, value, { start });
      }
      return value;
    } finally {
      generation.delete(key);
    }
  };

  return {
    get: async (key) => {
      const cached = values.get(key) ?? pending.get(key);
      if (cached !== undefined) return cached;
      if (misses.has(key)) return undefined;
      const value = lookUp(key);
      pending.set(key, value);
      return value;
    },
    clear: () => {
      values.clear();
      misses.clear();
      pending = new Map();
    },
  };
}
