import { describe, expect, test } from '@jest/globals';
import { createLogger, currentRequest, RequestWork, runForRequest, startPeriodicTask } from '../src/index.ts';

const log = createLogger({ app: 'test', level: 'silent' });
/** So long that only `wake` starts a run. */
const INTERVAL = 10_000_000;

/** A task whose work gets the number of its run; `begins` resolves when that run has begun. */
function taskOf(work: (run: number) => boolean | number | Promise<boolean>) {
  const runs = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  let count = 0;
  const task = startPeriodicTask({
    name: 'test',
    interval: INTERVAL,
    retryAfter: 1,
    log,
    work: async () => {
      count += 1;
      runs[count]?.resolve();
      return work(count);
    },
  });
  return { ...task, runs: () => count, begins: async (run: number) => runs[run]?.promise };
}

async function afterMicrotasks(count: number, then: () => void): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
  then();
}

describe('a periodic task', () => {
  test('runs again while there is more to do', async () => {
    const task = taskOf((run) => run < 3);
    task.wake();
    await task.begins(3);
    await task.stop();
    expect(task.runs()).toBe(3);
  });

  test('runs again after the milliseconds that its work names, and soon after a failure', async () => {
    const task = taskOf((run) => {
      if (run === 2) throw new Error('fails once');
      return run === 1 ? 1 : false;
    });
    task.wake();
    await task.begins(3);
    await task.stop();
    expect(task.runs()).toBe(3);
  });

  test('does not run for the request that wakes it: it must not use its limits or end with its client', async () => {
    let request: RequestWork | undefined = new RequestWork({ holder: 1, readOnly: true, isClientGone: () => true });
    const task = taskOf(async () => {
      await Promise.resolve();
      request = currentRequest();
      return false;
    });
    runForRequest(request, () => task.wake());
    await task.begins(1);
    await task.stop();
    expect(request).toBeUndefined();
  });

  // One of these microtasks lies between the last check for a wake-up and the end of the run.
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('does not miss a wake-up %i microtasks after its work', async (turns) => {
    const task = taskOf((run) => {
      if (run === 1) void afterMicrotasks(turns, () => task.wake());
      return false;
    });
    task.wake();
    await task.begins(2);
    await task.stop();
    expect(task.runs()).toBe(2);
  });

  test('never overlaps itself, and does not miss a wake-up while it runs', async () => {
    let running = 0;
    const task = taskOf(async (run) => {
      running += 1;
      expect(running).toBe(1);
      if (run === 1) for (const _ of [1, 2]) task.wake();
      await Promise.resolve();
      running -= 1;
      return false;
    });
    task.wake();
    await task.begins(2);
    await task.stop();
    expect(task.runs()).toBe(2);
  });

  test('runs again after a failure', async () => {
    const task = taskOf((run) => {
      if (run === 1) throw new Error('down');
      return false;
    });
    task.wake();
    await task.begins(1);
    // The failed run ends in a later turn of the event loop.
    await new Promise(setImmediate);
    task.wake();
    await task.begins(2);
    await task.stop();
    expect(task.runs()).toBe(2);
  });

  test('stops after the run in progress and does not start again', async () => {
    const leave = Promise.withResolvers<boolean>();
    const task = taskOf(async () => leave.promise);
    task.wake();
    await task.begins(1);
    const stopped = task.stop();
    leave.resolve(true);
    await stopped;
    task.wake();
    expect(task.runs()).toBe(1);
  });
});
