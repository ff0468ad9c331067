import { setTimeout as delay } from 'node:timers/promises';
import { serviceUnavailable } from '@tocsin/http';
import { boundedCache, estimateHeapBytes, FairQueue } from '@tocsin/runtime';

/** A cache in front of look-ups; a value is never older than the cache's TTL. */
export interface LookupCache<Value> {
  /** @throws DomainError `service_unavailable` when too many keys wait to be looked up */
  get(key: string): Promise<Value | undefined>;
  /** Removes everything; a look-up in progress is not cached either. */
  clear(): void;
}

export interface LookupCacheOptions<Value> {
  /** Of the values, and once more of the misses. */
  bytes: number;
  /** Milliseconds. */
  ttl: number;
  /** Finds the values of at most `keysPerQuery` keys in one query. */
  find: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  keysPerQuery: number;
  concurrentQueries: number;
  /** The most keys that wait for a query at the same time. */
  maxWaiting: number;
  /** How long the lease of a query stays unused after one that failed or did not find every key; milliseconds. */
  pauseAfterMiss: number;
}

/**
 * Looks up keys that come from unauthenticated clients, with a bounded number of queries: at most `concurrentQueries`
 * in each `pauseAfterMiss`, however many keys are unknown. Keys that wait are looked up together, each once. Misses are
 * cached, too, separately from values, so that invented keys evict no value. The age of both counts from before the
 * query, because that is when the result was true.
 */
export function lookupCache<Value extends object>(options: LookupCacheOptions<Value>): LookupCache<Value> {
  const { bytes, ttl, find, keysPerQuery, concurrentQueries, maxWaiting, pauseAfterMiss } = options;
  const values = boundedCache<string, Value>({ bytes, sizeOf: estimateHeapBytes, ttl });
  const misses = boundedCache<string, number>({ bytes, ttl });
  const queries = new FairQueue<'query'>({ all: concurrentQueries });
  const waiting = new Map<string, PromiseWithResolvers<Value | undefined>>();
  /** The keys in queries that began after the last clear. */
  let running = new Map<string, Promise<Value | undefined>>();

  /** Looks up the keys that have been waiting for the longest time. Returns whether every key was found. */
  const lookUpNext = async (): Promise<boolean> => {
    const batch = [...waiting].slice(0, keysPerQuery);
    if (batch.length === 0) return true;
    const generation = running;
    for (const [key, { promise }] of batch) {
      waiting.delete(key);
      generation.set(key, promise);
    }
    const start = performance.now();
    try {
      const results = await find(batch.map(([key]) => key));
      for (const [key, { resolve }] of batch) {
        const value = results.get(key);
        // After a clear, this value may be the outdated one.
        if (generation === running) {
          if (value === undefined) misses.set(key, 1, { start });
          else values.set(key, value, { start });
        }
        resolve(value);
      }
      return results.size === batch.length;
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
      return false;
    } finally {
      for (const [key] of batch) generation.delete(key);
    }
  };

  return {
    get: async (key) => {
      const cached = values.get(key) ?? waiting.get(key)?.promise ?? running.get(key);
      if (cached !== undefined) return cached;
      if (misses.has(key)) return undefined;
      if (waiting.size >= maxWaiting) throw serviceUnavailable('Too many tokens and hosts are being looked up');
      const added = Promise.withResolvers<Value | undefined>();
      waiting.set(key, added);
      // Not one for each key, of which more may come than there are queries.
      if (waiting.size > keysPerQuery * queries.waiting) {
        void queries.run('query', async () => {
          if (!(await lookUpNext())) await delay(pauseAfterMiss, undefined, { ref: false });
        });
      }
      return added.promise;
    },
    clear: () => {
      values.clear();
      misses.clear();
      running = new Map();
    },
  };
}
