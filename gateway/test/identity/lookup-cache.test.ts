import { describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { lookupCache, type LookupCacheOptions } from '../../src/identity/http/lookup-cache.ts';

/** A cache in front of queries that the test ends; the keys `k…` exist. */
function openCache(options: Partial<LookupCacheOptions<{ of: string; query: number }>> = {}) {
  const queries: { keys: readonly string[]; resolve: () => void; fail: () => void }[] = [];
  const cache = lookupCache({
    bytes: 1_000_000,
    ttl: 60_000,
    keysPerQuery: 10,
    concurrentQueries: 1,
    maxWaiting: 100,
    pauseAfterMiss: 1,
    find: async (keys) => {
      const { promise, resolve, reject } = Promise.withResolvers<Map<string, { of: string; query: number }>>();
      const query = queries.length;
      const rows = keys.filter((key) => key.startsWith('k')).map((key) => [key, { of: key, query }] as const);
      queries.push({ keys, resolve: () => resolve(new Map(rows)), fail: () => reject(new Error('is down')) });
      return promise;
    },
    ...options,
  });
  return {
    cache,
    keys: () => queries.map(({ keys }) => keys),
    resolve: (index: number) => queries[index]?.resolve(),
    fail: (index: number) => queries[index]?.fail(),
    /** Looks up a key alone; when the query has begun. */
    begin: async (key: string) => {
      const value = cache.get(key);
      value.catch(() => undefined);
      await settled();
      return { value };
    },
    /** Looks up a key alone, in the query with this index. */
    look: async (key: string, index: number) => {
      const value = cache.get(key);
      while (queries[index] === undefined) await settled();
      queries[index].resolve();
      return value;
    },
  };
}

const settled = async () => new Promise((resolve) => setImmediate(resolve));

describe('queries', () => {
  test('keys that arrive while all leases are taken go into one query, each key once', async () => {
    const { cache, keys, resolve, begin } = openCache({ pauseAfterMiss: 0 });
    const { value: first } = await begin('k1');
    const values = Promise.all([first, ...['k1', 'k2', 'x', 'k2'].map(cache.get)]);
    resolve(0);
    await settled();
    expect(keys()).toEqual([['k1'], ['k2', 'x']]);
    resolve(1);
    expect((await values).map((value) => value?.of)).toEqual(['k1', 'k1', 'k2', undefined, 'k2']);
  });

  test('keys per query and waiting keys are limited', async () => {
    const { cache, keys, resolve, begin } = openCache({ keysPerQuery: 2, maxWaiting: 3, pauseAfterMiss: 0 });
    const { value: first } = await begin('k1');
    const values = [first, ...['k2', 'k3', 'k4'].map(cache.get)];
    await expect(cache.get('k5')).rejects.toMatchObject({ code: 'service_unavailable' });
    // Another request for a waiting key does not count.
    values.push(cache.get('k4'));
    for (const index of [0, 1, 2]) {
      resolve(index);
      await settled();
    }
    expect(keys().map(({ length }) => length)).toEqual([1, 2, 1]);
    expect((await Promise.all(values)).at(-1)?.of).toBe('k4');
  });

  test('after an unknown key one lease pauses, and the other does not', async () => {
    const { cache, keys, look, begin, resolve } = openCache({ concurrentQueries: 2, pauseAfterMiss: 60_000 });
    expect(await look('x', 0)).toBeUndefined();
    const { value: second } = await begin('k1');
    const third = cache.get('k2');
    await settled();
    expect(keys()).toEqual([['x'], ['k1']]);
    resolve(1);
    expect((await second)?.of).toBe('k1');
    await settled();
    resolve(2);
    expect((await third)?.of).toBe('k2');
  });

  test('one that fails rejects all that wait for it, and the next one runs', async () => {
    const { cache, fail, look, begin } = openCache();
    const { value } = await begin('k1');
    const both = Promise.allSettled([value, cache.get('k1')]);
    fail(0);
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await look('k1', 1)).toEqual({ of: 'k1', query: 1 });
  });
});

describe('what is cached', () => {
  test('values and misses, until the cache is cleared', async () => {
    const { cache, look } = openCache();
    const found = await look('k1', 0);
    expect([await look('x', 1), await cache.get('k1'), await cache.get('x')]).toEqual([undefined, found, undefined]);
    cache.clear();
    expect([(await look('k1', 2))?.query, await look('x', 3)]).toEqual([2, undefined]);
  });

  test('misses evict no value', async () => {
    const { cache, look } = openCache({ bytes: 600 });
    await look('k1', 0);
    for (const [index, key] of ['x', 'y', 'z'].entries()) await look(key, index + 1);
    expect((await cache.get('k1'))?.query).toBe(0);
  });

  test.each(['k1', 'x'])('not what was looked up before a clear: %s', async (key) => {
    const { cache, begin, look, resolve } = openCache({ concurrentQueries: 2 });
    const before = await begin(key);
    cache.clear();
    const after = await look(key, 1);
    resolve(0);
    await before.value;
    expect(await cache.get(key)).toEqual(after);
  });

  test('the age counts from before the query', async () => {
    const { begin, resolve, look } = openCache({ ttl: 50 });
    const { value } = await begin('k1');
    await delay(60);
    resolve(0);
    await value;
    expect((await look('k1', 1))?.query).toBe(1);
  });
});
