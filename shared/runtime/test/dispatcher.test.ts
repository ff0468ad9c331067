import { expect, test } from '@jest/globals';
import { createLogger, startDispatcher } from '../src/index.ts';

const log = createLogger({ app: 'test', level: 'silent' });

/** A queue of names that are due now; a claimed one runs until its promise in `running` is settled. */
function queueOf(...names: string[]) {
  const waiting = [...names];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const begun: string[] = [];
  const firstIdlePoll = Promise.withResolvers<void>();
  return {
    begun,
    running,
    waiting,
    /** Settles at the first poll that finds nothing. */
    idle: firstIdlePoll.promise,
    options: {
      name: 'working',
      interval: 3_600_000,
      log,
      nextDue: async () => {
        if (waiting.length === 0) firstIdlePoll.resolve();
        return waiting.length === 0 ? undefined : 0;
      },
      claim: async () => waiting.splice(0, 2),
      run: async (name: string) => {
        begun.push(name);
        const gate = Promise.withResolvers<void>();
        running.set(name, gate);
        await gate.promise;
      },
    },
  };
}

test('all due items are started, whatever else is in progress', async () => {
  const queue = queueOf('a', 'b', 'c');
  const dispatcher = startDispatcher(queue.options);
  dispatcher.wake();
  await queue.idle;
  expect(queue.begun).toEqual(['a', 'b', 'c']);
  for (const gate of queue.running.values()) gate.resolve();
  await dispatcher.stop();
});

test('an item that fails does not stop the others', async () => {
  const queue = queueOf('a', 'b');
  const dispatcher = startDispatcher(queue.options);
  dispatcher.wake();
  await queue.idle;
  queue.waiting.push('c');
  // The end of a run causes another poll.
  queue.running.get('a')?.reject(new Error('broken'));
  queue.running.get('b')?.resolve();
  while (!queue.running.has('c')) await new Promise(setImmediate);
  queue.running.get('c')?.resolve();
  await dispatcher.stop();
  expect(queue.begun).toEqual(['a', 'b', 'c']);
});

test('an item that is due before the next poll is started when it is due', async () => {
  const queue = queueOf('soon');
  let wait = 20;
  const begun = Promise.withResolvers<void>();
  const dispatcher = startDispatcher({
    ...queue.options,
    nextDue: async () => {
      const due = queue.waiting.length === 0 ? undefined : wait;
      wait = 0;
      return due;
    },
    run: async () => begun.resolve(),
  });
  dispatcher.wake();
  await begun.promise;
  await dispatcher.stop();
});

test('an item that has just been added is started without asking when it is due', async () => {
  const queue = queueOf('added');
  const begun = Promise.withResolvers<string[]>();
  const calls: string[] = [];
  const dispatcher = startDispatcher({
    ...queue.options,
    nextDue: async () => {
      calls.push('asked');
      return undefined;
    },
    run: async (name: string) => {
      calls.push(name);
      begun.resolve([...calls]);
    },
  });
  dispatcher.claimNow();
  expect(await begun.promise).toEqual(['added']);
  await dispatcher.stop();
});

test('stopping waits for runs in progress and starts no more', async () => {
  const queue = queueOf('a');
  const dispatcher = startDispatcher(queue.options);
  dispatcher.wake();
  await queue.idle;
  let stopped = false;
  const stopping = dispatcher.stop().then(() => (stopped = true));
  queue.waiting.push('late');
  dispatcher.wake();
  await new Promise(setImmediate);
  expect(stopped).toBe(false);
  queue.running.get('a')?.resolve();
  await stopping;
  expect(queue.begun).toEqual(['a']);
});

test('a run that takes too long during a stop is aborted', async () => {
  const queue = queueOf('a');
  const aborted: string[] = [];
  const dispatcher = startDispatcher({
    ...queue.options,
    drainTimeout: 10,
    run: async (name: string, stopping: AbortSignal) => {
      queue.begun.push(name);
      await new Promise((_resolve, reject) => stopping.addEventListener('abort', reject)).catch(() => {
        aborted.push(name);
      });
    },
  });
  dispatcher.wake();
  await queue.idle;
  expect(aborted).toEqual([]);
  await dispatcher.stop();
  expect(aborted).toEqual(['a']);
});

test('a run that ignores the abort is abandoned', async () => {
  const queue = queueOf('a');
  const dispatcher = startDispatcher({ ...queue.options, drainTimeout: 10 });
  dispatcher.wake();
  await queue.idle;
  await dispatcher.stop();
  expect(queue.running.has('a')).toBe(true);
  queue.running.get('a')?.resolve();
});
