import { expect, test } from '@jest/globals';
import { createLogger, startDispatcher } from '../src/index.ts';

const log = createLogger({ app: 'test', level: 'silent' });

/** A queue of names, the first due now; what is claimed runs until it is let go. */
function queueOf(...names: string[]) {
  const waiting = [...names];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const begun: string[] = [];
  const look = Promise.withResolvers<void>();
  return {
    begun,
    running,
    waiting,
    /** Settles at the first look that finds nothing. */
    idle: look.promise,
    options: {
      name: 'working',
      interval: 3_600_000,
      log,
      nextDue: async () => {
        if (waiting.length === 0) look.resolve();
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

test('everything that is due is begun, whatever else is under way', async () => {
  const queue = queueOf('a', 'b', 'c');
  const dispatcher = startDispatcher(queue.options);
  dispatcher.wake();
  await queue.idle;
  expect(queue.begun).toEqual(['a', 'b', 'c']);
  for (const gate of queue.running.values()) gate.resolve();
  await dispatcher.stop();
});

test('what fails keeps nothing else from being done', async () => {
  const queue = queueOf('a', 'b');
  const dispatcher = startDispatcher(queue.options);
  dispatcher.wake();
  await queue.idle;
  queue.waiting.push('c');
  // Its end is a reason to look again.
  queue.running.get('a')?.reject(new Error('broken'));
  queue.running.get('b')?.resolve();
  while (!queue.running.has('c')) await new Promise(setImmediate);
  queue.running.get('c')?.resolve();
  await dispatcher.stop();
  expect(queue.begun).toEqual(['a', 'b', 'c']);
});

test('what is due before the next look is begun when it is due', async () => {
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

test('stopping waits for what is under way, and begins nothing more', async () => {
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
