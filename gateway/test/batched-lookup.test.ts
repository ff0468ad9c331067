import { describe, expect, test } from '@jest/globals';
import { batchedLookup } from '../src/http/batched-lookup.ts';

/** Queries that the test resolves; the keys `k…` exist. */
function slowSource() {
  const queries: { keys: readonly string[]; resolve: () => void; fail: () => void }[] = [];
  const find = async (keys: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<Map<string, string>>();
    const rows = new Map(keys.filter((key) => key.startsWith('k')).map((key) => [key, `value of ${key}`]));
    queries.push({ keys, resolve: () => resolve(rows), fail: () => reject(new Error('the database is down')) });
    return promise;
  };
  return { queries, find };
}

const settled = async () => new Promise((resolve) => setImmediate(resolve));

describe('the batched look-up', () => {
  test('keys that arrive while all slots are in use go into one query, each key once', async () => {
    const { queries, find } = slowSource();
    const lookUp = batchedLookup({ find, keysPerQuery: 10, concurrentQueries: 1, maxWaiting: 100, pauseAfterMiss: 0 });
    const values = Promise.all(['k1', 'k2', 'x', 'k2'].map(lookUp));
    expect(queries.map(({ keys }) => keys)).toEqual([['k1']]);
    queries[0]?.resolve();
    await settled();
    expect(queries.map(({ keys }) => keys)).toEqual([['k1'], ['k2', 'x']]);
    queries[1]?.resolve();
    expect(await values).toEqual(['value of k1', 'value of k2', undefined, 'value of k2']);
  });

  test('keys per query and waiting keys are limited', async () => {
    const { queries, find } = slowSource();
    const lookUp = batchedLookup({ find, keysPerQuery: 2, concurrentQueries: 1, maxWaiting: 3, pauseAfterMiss: 0 });
    const values = ['k1', 'k2', 'k3', 'k4'].map(lookUp);
    await expect(lookUp('k5')).rejects.toMatchObject({ code: 'service_unavailable' });
    // Another request for a waiting key does not count.
    values.push(lookUp('k4'));
    for (const index of [0, 1, 2]) {
      queries[index]?.resolve();
      await settled();
    }
    expect(queries.map(({ keys }) => keys.length)).toEqual([1, 2, 1]);
    expect((await Promise.all(values)).at(-1)).toBe('value of k4');
  });

  test('after an unknown key one slot pauses, and the other slots do not', async () => {
    const { queries, find } = slowSource();
    const lookUp = batchedLookup({
      find,
      keysPerQuery: 10,
      concurrentQueries: 2,
      maxWaiting: 100,
      pauseAfterMiss: 60_000,
    });
    const first = lookUp('x');
    queries[0]?.resolve();
    expect(await first).toBeUndefined();
    const second = lookUp('k1');
    const third = lookUp('k2');
    expect(queries.map(({ keys }) => keys)).toEqual([['x'], ['k1']]);
    queries[1]?.resolve();
    expect(await second).toBe('value of k1');
    await settled();
    queries[2]?.resolve();
    expect(await third).toBe('value of k2');
  });

  test('a failed query rejects its keys, and the next query runs', async () => {
    const { queries, find } = slowSource();
    const lookUp = batchedLookup({ find, keysPerQuery: 10, concurrentQueries: 1, maxWaiting: 100, pauseAfterMiss: 1 });
    const failed = lookUp('k1');
    const next = lookUp('k2');
    queries[0]?.fail();
    await expect(failed).rejects.toThrow('down');
    while (queries.length < 2) await settled();
    queries[1]?.resolve();
    expect(await next).toBe('value of k2');
  });
});
