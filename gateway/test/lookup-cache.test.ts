import { describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { lookupCache } from '../src/http/lookup-cache.ts';

/** Look-ups that the test resolves. */
function slowSource() {
  const waiting: ((value: { n: number } | undefined) => void)[] = [];
  return {
    find: async () => new Promise<{ n: number } | undefined>((resolve) => waiting.push(resolve)),
    get lookUps() {
      return waiting.length;
    },
    resolve: (index: number, n: number | undefined) => waiting[index]?.(n === undefined ? undefined : { n }),
  };
}

describe('the look-up cache', () => {
  test('concurrent look-ups of one key are one', async () => {
    const source = slowSource();
    const cache = lookupCache({ bytes: 1_000_000, ttl: 60_000, find: source.find });
    const both = Promise.all([cache.get('a'), cache.get('a')]);
    source.resolve(0, 1);
    expect(await both).toEqual([{ n: 1 }, { n: 1 }]);
    expect(await cache.get('a')).toEqual({ n: 1 });
    expect(source.lookUps).toBe(1);
  });

  test('a miss is cached until the cache is cleared', async () => {
    let exists = false;
    let lookUps = 0;
    const find = async () => {
      lookUps += 1;
      return exists ? {} : undefined;
    };
    const cache = lookupCache({ bytes: 1_000_000, ttl: 60_000, find });
    expect(await cache.get('a')).toBeUndefined();
    exists = true;
    expect(await cache.get('a')).toBeUndefined();
    expect(lookUps).toBe(1);
    cache.clear();
    expect(await cache.get('a')).toEqual({});
  });

  test('misses evict no value', async () => {
    let lookUps = 0;
    const find = async (key: string) => {
      lookUps += 1;
      return key === 'a' ? {} : undefined;
    };
    const cache = lookupCache({ bytes: 600, ttl: 60_000, find });
    await cache.get('a');
    for (const key of ['x', 'y', 'z']) await cache.get(key);
    expect(await cache.get('a')).toEqual({});
    expect(lookUps).toBe(4);
  });

  test('a miss is not cached if the cache is cleared during the look-up', async () => {
    const source = slowSource();
    const cache = lookupCache({ bytes: 1_000_000, ttl: 60_000, find: source.find });
    const before = cache.get('a');
    cache.clear();
    source.resolve(0, undefined);
    expect(await before).toBeUndefined();
    const after = cache.get('a');
    source.resolve(1, 1);
    expect(await after).toEqual({ n: 1 });
  });

  test('a value is not cached if the cache is cleared during the look-up', async () => {
    const source = slowSource();
    const cache = lookupCache({ bytes: 1_000_000, ttl: 60_000, find: source.find });
    const before = cache.get('a');
    cache.clear();
    const after = cache.get('a');
    expect(source.lookUps).toBe(2);
    source.resolve(1, 2);
    expect(await after).toEqual({ n: 2 });
    source.resolve(0, 1);
    expect(await before).toEqual({ n: 1 });
    expect(await cache.get('a')).toEqual({ n: 2 });
  });

  test('the age counts from before the look-up', async () => {
    const source = slowSource();
    const cache = lookupCache({ bytes: 1_000_000, ttl: 50, find: source.find });
    const first = cache.get('a');
    await delay(60);
    source.resolve(0, 1);
    await first;
    void cache.get('a');
    expect(source.lookUps).toBe(2);
  });

  test('a failed look-up rejects all that wait for it, and the next get retries', async () => {
    let calls = 0;
    const cache = lookupCache({
      bytes: 1_000_000,
      ttl: 60_000,
      find: async () => {
        calls += 1;
        if (calls === 1) throw new Error('the database is down');
        return {};
      },
    });
    const both = await Promise.allSettled([cache.get('a'), cache.get('a')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await cache.get('a')).toEqual({});
  });
});
