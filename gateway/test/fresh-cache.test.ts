import { describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { freshCache } from '../src/http/fresh-cache.ts';

/** Look-ups that are answered when the test says so. */
function slowSource() {
  const waiting: ((value: { n: number } | undefined) => void)[] = [];
  return {
    find: async () => new Promise<{ n: number } | undefined>((resolve) => waiting.push(resolve)),
    get lookUps() {
      return waiting.length;
    },
    answer: (index: number, n: number | undefined) => waiting[index]?.(n === undefined ? undefined : { n }),
  };
}

describe('the cache of what must be fresh', () => {
  test('concurrent look-ups of one key are one', async () => {
    const source = slowSource();
    const cache = freshCache({ size: 10, ttl: 60_000, find: source.find });
    const both = Promise.all([cache.get('a'), cache.get('a')]);
    source.answer(0, 1);
    expect(await both).toEqual([{ n: 1 }, { n: 1 }]);
    expect(await cache.get('a')).toEqual({ n: 1 });
    expect(source.lookUps).toBe(1);
  });

  test('what is not found is looked up again', async () => {
    let known = false;
    const cache = freshCache({ size: 10, ttl: 60_000, find: async () => (known ? {} : undefined) });
    expect(await cache.get('a')).toBeUndefined();
    known = true;
    expect(await cache.get('a')).toEqual({});
  });

  test('a drop forgets what was being looked up when it came', async () => {
    const source = slowSource();
    const cache = freshCache({ size: 10, ttl: 60_000, find: source.find });
    const before = cache.get('a');
    cache.drop();
    const after = cache.get('a');
    expect(source.lookUps).toBe(2);
    source.answer(1, 2);
    expect(await after).toEqual({ n: 2 });
    source.answer(0, 1);
    expect(await before).toEqual({ n: 1 });
    expect(await cache.get('a')).toEqual({ n: 2 });
  });

  test('age counts from before the look-up', async () => {
    const source = slowSource();
    const cache = freshCache({ size: 10, ttl: 50, find: source.find });
    const first = cache.get('a');
    await delay(60);
    source.answer(0, 1);
    await first;
    void cache.get('a');
    expect(source.lookUps).toBe(2);
  });

  test('a failed look-up is told to everybody who waits, and tried again', async () => {
    let calls = 0;
    const cache = freshCache({
      size: 10,
      ttl: 60_000,
      find: async () => {
        calls += 1;
        if (calls === 1) throw new Error('the database is away');
        return {};
      },
    });
    const both = await Promise.allSettled([cache.get('a'), cache.get('a')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await cache.get('a')).toEqual({});
  });
});
