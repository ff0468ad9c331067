import { expect, test } from '@jest/globals';
import { createLogger, type Dispatcher, startDispatcher } from '../src/index.ts';

/** A dispatcher of names that are due now; a claimed one runs until its promise in `running` is settled. */
function dispatcherOf(names: string[], options: Partial<Parameters<typeof startDispatcher<string>>[0]> = {}) {
  const waiting = [...names];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const begun: string[] = [];
  const idle = Promise.withResolvers<void>();
  const dispatcher: Dispatcher = startDispatcher({
    name: 'working',
    interval: 3_600_000,
    log: createLogger({ app: 'test', level: 'silent' }),
    nextDue: async () => {
      if (waiting.length === 0) idle.resolve();
      return waiting.length === 0 ? undefined : 0;
    },
    claim: async () => waiting.splice(0, 2),
    ...options,
    run: async (name, stopping) => {
      begun.push(name);
      running.set(name, Promise.withResolvers<void>());
      await (options.run?.(name, stopping) ?? running.get(name)?.promise);
    },
  });
  return {
    ...dispatcher,
    waiting,
    running,
    begun,
    /** Polls until there is nothing to claim. */
    poll: async () => {
      dispatcher.wake();
      await idle.promise;
    },
    begins: async (name: string) => {
      while (!running.has(name)) await new Promise(setImmediate);
    },
  };
}

test('all due items are started, whatever else is in progress', async () => {
  const { poll, begun, running, stop } = dispatcherOf(['a', 'b', 'c']);
  await poll();
  expect(begun).toEqual(['a', 'b', 'c']);
  for (const gate of running.values()) gate.resolve();
  await stop();
});

test('an item that fails does not stop the others', async () => {
  const { poll, begins, begun, running, waiting, stop } = dispatcherOf(['a', 'b']);
  await poll();
  waiting.push('c');
  // The end of a run causes another poll.
  running.get('a')?.reject(new Error('broken'));
  running.get('b')?.resolve();
  await begins('c');
  running.get('c')?.resolve();
  await stop();
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('an item that is due before the next poll is started when it is due', async () => {
  const waits = [20, 0];
  const { wake, begins, begun, stop } = dispatcherOf(['soon'], {
    nextDue: async () => waits.shift(),
    run: async () => undefined,
  });
  wake();
  await begins('soon');
  await stop();
  expect(begun).toEqual(['soon']);
});

test('an item that has just been added is started without asking when it is due', async () => {
  let asked = 0;
  let before: number | undefined;
  const { claimNow, begins, stop } = dispatcherOf(['added'], {
    nextDue: async () => void (asked += 1),
    run: async () => void (before = asked),
  });
  claimNow();
  await begins('added');
  await stop();
  expect(before).toBe(0);
});

test('stopping waits for runs in progress and starts no more', async () => {
  const { poll, wake, begun, running, waiting, stop } = dispatcherOf(['a']);
  await poll();
  let stopped = false;
  const stopping = stop().then(() => (stopped = true));
  waiting.push('late');
  wake();
  await new Promise(setImmediate);
  expect(stopped).toBe(false);
  running.get('a')?.resolve();
  await stopping;
  expect(begun).toEqual(['a']);
});

test('a run that takes too long during a stop is aborted', async () => {
  const aborted: string[] = [];
  const { poll, stop } = dispatcherOf(['a'], {
    drainTimeout: 10,
    run: async (name, stopping) => {
      await new Promise((_resolve, reject) => stopping.addEventListener('abort', reject)).catch(() => {
        aborted.push(name);
      });
    },
  });
  await poll();
  expect(aborted).toEqual([]);
  await stop();
  expect(aborted).toEqual(['a']);
});

test('a run that ignores the abort is abandoned', async () => {
  const { poll, stop, running } = dispatcherOf(['a'], { drainTimeout: 10 });
  await poll();
  await stop();
  expect(running.has('a')).toBe(true);
  running.get('a')?.resolve();
});
