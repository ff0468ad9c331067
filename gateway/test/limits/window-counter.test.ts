import { describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import {
  type Addition,
  type Amounts,
  windowCounter,
  type WindowUsage,
} from '../../src/limits/clients/window-counter.ts';

const WIDE: Amounts = { requests: 10_000, cost: 100_000, bytes: 1_000_000_000 };
const AMOUNTS = { cost: 2, bytes: 100 };

/** Windows that several counters share, and that answer when told or at once. */
function sharedWindows({ remaining = 60_000 }: { remaining?: number } = {}) {
  const windows = new Map<string, Amounts>();
  const batches: (readonly Addition[])[] = [];
  const answers: (() => void)[] = [];
  const isHeld = { value: false };
  const add = async (additions: readonly Addition[]): Promise<WindowUsage[]> => {
    batches.push(additions);
    const usages = additions.map(({ key, requests, cost, bytes }) => {
      const before = windows.get(key) ?? { requests: 0, cost: 0, bytes: 0 };
      const used = { requests: before.requests + requests, cost: before.cost + cost, bytes: before.bytes + bytes };
      windows.set(key, used);
      return { ...used, remaining };
    });
    if (isHeld.value) await new Promise<void>((resolve) => void answers.push(resolve));
    return usages;
  };
  const hold = () => (isHeld.value = true);
  const answer = () => {
    isHeld.value = false;
    for (const resolve of answers.splice(0)) resolve();
  };
  return { windows, batches, add, hold, answer };
}

const counterOf = ({ add }: Pick<ReturnType<typeof sharedWindows>, 'add'>, maxKeys = 100) =>
  windowCounter({ add, maxKeys });

const allOf = async (usages: readonly (WindowUsage | Promise<WindowUsage>)[]) =>
  Promise.all(usages.map(async (usage) => usage));

describe('a request that is far below its limits', () => {
  test('does not wait, once the window is known, and is counted exactly', async () => {
    const shared = sharedWindows();
    const counter = counterOf(shared);
    const first = counter.count('a', AMOUNTS, WIDE);
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toMatchObject({ requests: 1, cost: 2, bytes: 100 });
    const next = [counter.count('a', AMOUNTS, WIDE), counter.count('a', AMOUNTS, WIDE)];
    expect(next).toEqual([
      { requests: 2, cost: 4, bytes: 200, remaining: expect.any(Number) },
      { requests: 3, cost: 6, bytes: 300, remaining: expect.any(Number) },
    ]);
    await eventually(() => shared.batches.length === 2, { what: 'the second batch' });
    expect(shared.batches).toEqual([
      [{ key: 'a', length: 60_000, requests: 1, cost: 2, bytes: 100 }],
      [{ key: 'a', length: 60_000, requests: 2, cost: 4, bytes: 200 }],
    ]);
    await counter.stop();
  });

  test('learns what other processes have counted', async () => {
    const shared = sharedWindows();
    const [one, two] = [counterOf(shared), counterOf(shared)];
    await one.count('a', AMOUNTS, WIDE);
    for (let count = 0; count < 5; count += 1) await two.count('a');
    expect(one.count('a', AMOUNTS, WIDE)).toMatchObject({ requests: 2 });
    await eventually(() => shared.windows.get('a')?.requests === 7, { what: 'all seven' });
    await eventually(async () => (await one.count('a', AMOUNTS, WIDE)).requests >= 8, { what: 'those of the other' });
    await Promise.all([one.stop(), two.stop()]);
  });

  test('is counted when the process stops', async () => {
    const shared = sharedWindows();
    const counter = counterOf(shared);
    await counter.count('a', AMOUNTS, WIDE);
    void counter.count('a', AMOUNTS, WIDE);
    await counter.stop();
    expect(shared.windows.get('a')?.requests).toBe(2);
  });
});

describe('a request waits', () => {
  test.each([
    { when: 'if it has no limits', limits: null },
    { when: 'if few requests are allowed', limits: { ...WIDE, requests: 100 } },
    { when: 'if more than half of the cost is used', limits: { ...WIDE, cost: 7 } },
    { when: 'if it adds much of what is allowed', amounts: { cost: 1, bytes: 10_000_000 } },
    { when: 'if the window is about to end', remaining: 400 },
  ])('$when', async ({ limits = WIDE, amounts = AMOUNTS, remaining = 60_000 }) => {
    const counter = counterOf(sharedWindows({ remaining }));
    const count = () => counter.count('a', amounts, limits ?? undefined);
    await count();
    const usage = count();
    expect(usage).toBeInstanceOf(Promise);
    expect((await usage).requests).toBe(2);
    await counter.stop();
  });

  test('while too much is not confirmed', async () => {
    const shared = sharedWindows();
    const counter = counterOf(shared);
    const limits = { ...WIDE, requests: 1_280 };
    await counter.count('a', AMOUNTS, limits);
    shared.hold();
    const usages = Array.from({ length: 12 }, () => counter.count('a', AMOUNTS, limits));
    expect(usages.map((usage) => usage instanceof Promise)).toEqual([...Array(10).fill(false), true, true]);
    shared.answer();
    expect((await allOf(usages)).map(({ requests }) => requests)).toEqual(usages.map((_, index) => index + 2));
    await counter.stop();
  });
});

test('what is gathered while a batch is under way goes together, in batches of so many keys', async () => {
  const shared = sharedWindows();
  const counter = counterOf(shared, 2);
  shared.hold();
  const keys = ['a', 'b', 'c', 'd', 'b'];
  const usages = Promise.all(keys.map(async (key) => counter.count(key)));
  shared.answer();
  expect((await usages).map(({ requests }) => requests)).toEqual([1, 1, 1, 1, 2]);
  expect(shared.batches.map((batch) => batch.map(({ key, requests }) => `${key}${requests}`))).toEqual([
    ['a1'],
    ['b2', 'c1'],
    ['d1'],
  ]);
});

test('a batch that fails fails those that wait for it, and the next one is sent', async () => {
  const shared = sharedWindows();
  let fails = true;
  const counter = counterOf({
    add: async (additions) => (fails ? Promise.reject(new Error('gone')) : shared.add(additions)),
  });
  const failed = [counter.count('a'), counter.count('a', AMOUNTS, WIDE)];
  for (const usage of failed) await expect(usage).rejects.toThrow('gone');
  fails = false;
  expect((await counter.count('a')).requests).toBe(1);
});

test('one process counts exactly; several let no more pass than their unconfirmed parts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(5, 200, 400),
      fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 40 }), fc.nat(3)), { minLength: 5, maxLength: 30 }),
      async (processes, limit, steps) => {
        const shared = sharedWindows();
        const add = async (additions: readonly Addition[]) => {
          const usages = await shared.add(additions);
          await delay(1);
          return usages;
        };
        const counters = Array.from({ length: processes }, () => counterOf({ add }));
        const limits = { ...WIDE, requests: limit };
        const usages: (WindowUsage | Promise<WindowUsage>)[] = [];
        for (const [which, count, pause] of steps) {
          const counter = counters[which % processes]!;
          for (let sent = 0; sent < count; sent += 1) usages.push(counter.count('a', AMOUNTS, limits));
          if (pause > 0) await delay(pause);
        }
        const requests = (await allOf(usages)).map((usage) => usage.requests);
        await Promise.all(counters.map(async (counter) => counter.stop()));
        expect(shared.windows.get('a')?.requests).toBe(requests.length);
        if (processes === 1) expect(requests).toEqual(requests.map((_, index) => index + 1));
        const passed = requests.filter((count) => count <= limit).length;
        expect(passed).toBeGreaterThanOrEqual(Math.min(limit, requests.length));
        expect(passed).toBeLessThanOrEqual(limit + processes * Math.ceil(limit / 64));
      },
    ),
    { numRuns: 30 },
  );
});
