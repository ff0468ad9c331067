import { describe, expect, test } from '@jest/globals';
import { createLogger, currentRequest, RequestWork, runForRequest, startPeriodicTask } from '../src/index.ts';

const log = createLogger({ app: 'test', level: 'silent' });
/** So long that only `wake` starts a run. */
const INTERVAL = 10_000_000;

const taskOf = (work: () => Promise<boolean>) => startPeriodicTask({ name: 'test', interval: INTERVAL, log, work });

async function afterMicrotasks(count: number, then: () => void): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
  then();
}

describe('a periodic task', () => {
  test('runs again while there is more to do', async () => {
    let left = 3;
    const done = Promise.withResolvers<void>();
    const task = taskOf(async () => {
      left -= 1;
      if (left === 0) done.resolve();
      return left > 0;
    });
    task.wake();
    await done.promise;
    await task.stop();
    expect(left).toBe(0);
  });

  test('does not run for the request that wakes it: it must not use its share or end with its client', async () => {
    const done = Promise.withResolvers<unknown>();
    const task = taskOf(async () => {
      await Promise.resolve();
      done.resolve(currentRequest());
      return false;
    });
    const request = new RequestWork({ holder: 1, readOnly: true, isClientGone: () => true });
    runForRequest(request, () => {
      expect(currentRequest()).toBe(request);
      task.wake();
    });
    expect(await done.promise).toBeUndefined();
    await task.stop();
  });

  // One of these microtasks lies between the last check for a wake-up and the end of the run.
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'does not miss a wake-up that comes %i microtasks after its work',
    async (turns) => {
      let runs = 0;
      const again = Promise.withResolvers<void>();
      const task = taskOf(async () => {
        runs += 1;
        if (runs === 2) again.resolve();
        else void afterMicrotasks(turns, () => task.wake());
        return false;
      });
      task.wake();
      await again.promise;
      await task.stop();
    },
  );

  test('never overlaps itself, and does not miss a wake-up while it runs', async () => {
    let running = 0;
    let runs = 0;
    const second = Promise.withResolvers<void>();
    const task = taskOf(async () => {
      running += 1;
      expect(running).toBe(1);
      runs += 1;
      if (runs === 1) {
        task.wake();
        task.wake();
      } else second.resolve();
      await Promise.resolve();
      running -= 1;
      return false;
    });
    task.wake();
    await second.promise;
    await task.stop();
    expect(runs).toBe(2);
  });

  test('runs again after a failure', async () => {
    let runs = 0;
    const failed = Promise.withResolvers<void>();
    const recovered = Promise.withResolvers<void>();
    const task = taskOf(async () => {
      runs += 1;
      if (runs === 1) {
        failed.resolve();
        throw new Error('down');
      }
      recovered.resolve();
      return false;
    });
    task.wake();
    await failed.promise;
    // The failed run ends in a later turn of the event loop.
    await new Promise(setImmediate);
    task.wake();
    await recovered.promise;
    await task.stop();
    expect(runs).toBe(2);
  });

  test('stops after the run in progress and does not start again', async () => {
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    let runs = 0;
    const task = taskOf(async () => {
      runs += 1;
      entered.resolve();
      await leave.promise;
      return true;
    });
    task.wake();
    await entered.promise;
    const stopped = task.stop();
    leave.resolve();
    await stopped;
    task.wake();
    expect(runs).toBe(1);
  });
});
