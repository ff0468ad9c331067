import { afterEach, describe, expect, test } from '@jest/globals';
import { mock } from 'node:test';
import fc from '@tocsin/testing/fuzz';
import { FairQueue, type Lease, type LimitReached, type Limits, type TakeOptions } from '../src/index.ts';

/** Until all promises that can be settled are settled. */
const settled = async () => new Promise((resolve) => setImmediate(resolve));

/** A queue; `served` has the names of those that got a lease, and `-name: limit` of those that did not. */
function queueOf(limits: Limits<number>) {
  const queue = new FairQueue<number>(limits);
  const served: string[] = [];
  const leases = new Map<string, Lease>();
  return {
    queue,
    served,
    take: (holder: number, name: string, options?: TakeOptions) =>
      void (async () => queue.take(holder, options))().then(
        (lease) => {
          served.push(name);
          leases.set(name, lease);
        },
        (error: unknown) => served.push(`-${name}: ${(error as LimitReached).limit}`),
      ),
    release: async (name: string) => {
      leases.get(name)?.release();
      await settled();
    },
  };
}

afterEach(() => mock.timers.reset());

const pass = async (milliseconds: number) => {
  mock.timers.tick(milliseconds);
  await settled();
};

describe('limits', () => {
  test('nobody holds more than its limit, and a lease that is released twice counts once', () => {
    const queue = new FairQueue<number>({ holder: 3 });
    const leases = [1, 2, 3, 4].map(() => queue.tryTake(1));
    expect(leases.map((lease) => lease !== undefined)).toEqual([true, true, true, false]);
    expect(queue.tryTake(2, 3)).toBeDefined();
    leases[0]?.release();
    leases[0]?.release();
    expect(queue.heldBy(1)).toBe(2);
  });

  test('a lease grows within the limits', () => {
    const queue = new FairQueue<number>({ all: 10, holder: 6 });
    const lease = queue.tryTake(1, 4) as Lease;
    expect([lease.tryGrow(2), lease.tryGrow(1), queue.heldBy(1)]).toEqual([true, false, 6]);
    lease.release();
    expect(queue.held).toBe(0);
  });

  test('however many are greedy, one without anything gets something if each leaves as much as it holds', () => {
    for (const greedy of [1, 2, 3, 10, 50]) {
      const queue = new FairQueue<number>({ all: 256, leavesAsMuch: true });
      for (let round = 0; round < 300; round += 1) for (let one = 1; one <= greedy; one += 1) queue.tryTake(one);
      const each = Array.from({ length: greedy }, (_, index) => queue.heldBy(index + 1));
      expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
      expect(queue.tryTake(1_000)).toBeDefined();
    }
  });
});

describe('those that wait', () => {
  test('in one holder come in the order of arrival, except those that come first', async () => {
    const { take, release, served } = queueOf({ holder: 1 });
    for (const name of ['a', 'b', 'c']) take(1, name);
    for (const name of ['first', 'second']) take(1, name, { first: true });
    await settled();
    for (const name of ['a', 'first', 'second', 'b']) await release(name);
    expect(served).toEqual(['a', 'first', 'second', 'b', 'c']);
  });

  test('in another holder come before those of one that was served before they arrived', async () => {
    const { take, release, served } = queueOf({ all: 1 });
    for (const name of ['a', 'b', 'c', 'd']) take(1, name);
    take(2, 'other');
    await settled();
    await release('a');
    // It was served after the holder that waits: now it is that one's turn.
    await release('other');
    take(2, 'again');
    take(3, 'third');
    await settled();
    for (const name of ['b', 'third', 'again', 'c']) await release(name);
    expect(served).toEqual(['a', 'other', 'b', 'third', 'again', 'c', 'd']);
  });

  test('are limited in number, and the refusal says whose leases are in the way', async () => {
    const { take, served } = queueOf({ all: 3, holder: 2, waiting: 1 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) take(1, name);
    for (const name of ['b1', 'b2', 'b3']) take(2, name);
    await settled();
    expect(served.sort()).toEqual(['-a4: holder', '-b3: all', 'a1', 'a2', 'b1']);
  });

  test('wait for a limited time, or until nobody needs the lease', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    const { take, served, queue, release } = queueOf({ all: 2, holder: 1, wait: 1_000 });
    let isGone = false;
    take(1, 'a1');
    take(2, 'b1');
    take(1, 'a2');
    take(1, 'patient', { wait: 2_000 });
    take(1, 'gone', { isGone: () => isGone });
    take(3, 'c1');
    await pass(900);
    expect(served).toEqual(['a1', 'b1']);
    isGone = true;
    await pass(100);
    expect(served.slice(2)).toEqual(['-gone: gone']);
    await pass(100);
    expect(served.slice(3)).toEqual(['-c1: all', '-a2: holder']);
    await release('a1');
    expect([served.at(-1), queue.waiting]).toEqual(['patient', 0]);
  });

  test('can all be refused, and others wait afterwards', async () => {
    const { take, served, queue, release } = queueOf({ all: 1 });
    for (const holder of [1, 2, 3]) take(holder, `of ${holder}`);
    queue.refuseAll(() => Object.assign(new Error('no'), { limit: 'no connection' }));
    take(4, 'later');
    await settled();
    await release('of 1');
    expect(served).toEqual(['of 1', '-of 2: no connection', '-of 3: no connection', 'later']);
  });
});

test('work has a lease while it runs, also if it fails', async () => {
  const queue = new FairQueue<number>({ all: 1 });
  const failing = queue.run(1, async () => Promise.reject(new Error(`with ${queue.held}`)));
  const next = queue.run(2, async () => queue.held);
  await expect(failing).rejects.toThrow('with 1');
  expect([await next, queue.held]).toEqual([1, 0]);
});

/** A holder takes a lease, or the lease that has been held for the longest time ends, or one of the later ones. */
const steps = fc.array(
  fc.oneof(
    fc.record({ holder: fc.integer({ min: 0, max: 4 }), first: fc.boolean() }),
    fc.record({ release: fc.integer({ min: 0, max: 4 }) }),
  ),
  { maxLength: 80 },
);
const limitSets = fc.record({
  all: fc.integer({ min: 2, max: 8 }),
  holder: fc.integer({ min: 1, max: 5 }),
  leavesAsMuch: fc.boolean(),
  reserved: fc.constantFrom({ for: 0, amount: 0 }, { for: 0, amount: 1 }),
});

describe('at any time', () => {
  test('limits hold, nobody waits for what is free, and holders take turns', async () => {
    await fc.assert(
      fc.asyncProperty(limitSets, steps, async (limits, taken) => {
        const queue = new FairQueue<number>(limits);
        const held: { holder: number; lease: Lease }[] = [];
        const waiting: { holder: number; first: boolean }[] = [];
        /** Holders, the one that was served last at the end. */
        const served: number[] = [];
        const heldBy = (holder: number) => held.filter((one) => one.holder === holder).length;
        const mayTake = (holder: number) => {
          const reserved = holder === 0 ? 0 : Math.max(0, limits.reserved.amount - heldBy(0));
          const free = limits.all - held.length - reserved;
          return free > 0 && heldBy(holder) < limits.holder && (!limits.leavesAsMuch || heldBy(holder) < free);
        };
        for (const step of taken) {
          if ('release' in step) {
            const [ended] = held.splice(step.release, 1);
            ended?.lease.release();
          } else {
            const waiter = { ...step };
            waiting.push(waiter);
            void (async () => queue.take(step.holder, { first: step.first }))().then((lease) => {
              const own = waiting.filter(({ holder }) => holder === step.holder);
              // In its holder's order.
              expect(own.find(({ first }) => first === own.some((one) => one.first))).toBe(waiter);
              waiting.splice(waiting.indexOf(waiter), 1);
              held.push({ holder: step.holder, lease });
              // Of the holders that can be served, the one that was served longest ago is.
              const turn = served.lastIndexOf(step.holder);
              for (const { holder } of waiting)
                if (mayTake(holder)) expect(served.lastIndexOf(holder)).toBeGreaterThanOrEqual(turn);
              served.push(step.holder);
            });
          }
          await settled();
          expect(queue.held).toBe(held.length);
          expect(queue.waiting).toBe(waiting.length);
          expect(held.length).toBeLessThanOrEqual(limits.all);
          for (const { holder } of held) expect(heldBy(holder)).toBeLessThanOrEqual(limits.holder);
          expect(waiting.filter(({ holder }) => mayTake(holder))).toEqual([]);
        }
        while (held.length > 0) {
          for (const { lease } of held.splice(0)) lease.release();
          await settled();
        }
        expect([queue.held, queue.waiting]).toEqual([0, 0]);
      }),
      { numRuns: 100 },
    );
  });
});
