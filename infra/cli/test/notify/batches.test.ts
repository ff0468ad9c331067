import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { batchesOf } from '../../src/notify/batches.ts';

/** Milliseconds that no test waits for. */
const LONG = 3_600_000;

/** Everything that needs no timer happens. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await turn();
}

function startBatches(pace: number) {
  const waiting: PromiseWithResolvers<IteratorResult<number>>[] = [];
  const arrived: (number | Error)[] = [];
  const hand = () => {
    while (waiting.length > 0 && arrived.length > 0) {
      const [reader, value] = [waiting.shift()!, arrived.shift()!];
      if (value instanceof Error) reader.reject(value);
      else reader.resolve({ done: false, value });
    }
  };
  const items = {
    next: async () => {
      const reader = Promise.withResolvers<IteratorResult<number>>();
      waiting.push(reader);
      hand();
      return reader.promise;
    },
  };
  const ending = new AbortController();
  const fits = (batch: readonly number[]) => batch.length <= 3;
  const batches = batchesOf(items, { fits, pace, signal: ending.signal });
  const received: unknown[] = [];
  const end = (async () => {
    for await (const batch of batches) received.push(batch);
  })().catch((error: unknown) => received.push((error as Error).name));
  return {
    ...{ received, ending, end },
    push: async (...values: (number | Error)[]) => {
      arrived.push(...values);
      hand();
      await settle();
    },
    /** Waits for so many batches. */
    receive: async (count: number) => eventually(() => received.length >= count && received),
  };
}

test('the first comes at once, and what comes within the pace is joined', async () => {
  const { push, receive, ending, end } = startBatches(50);
  await push(1);
  expect(await receive(1)).toEqual([[1]]);
  await push(2, 3);
  expect(await receive(2)).toEqual([[1], [2, 3]]);
  ending.abort();
  await push(4);
  await end;
});

test('what does not fit comes with the next one', async () => {
  const { push, receive } = startBatches(1);
  await push(1, 2, 3, 4, 5, 6, 7);
  expect(await receive(3)).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
});

test('the next one waits for the pace, also if it is full, and the signal ends the waiting', async () => {
  const { push, receive, received, ending, end } = startBatches(LONG);
  await push(1);
  await receive(1);
  await push(2, 3, 4, 5);
  expect(received).toEqual([[1]]);
  ending.abort();
  await end;
  expect(received).toEqual([[1], 'AbortError']);
});

test('an error comes behind the items before it', async () => {
  const { push, received, end } = startBatches(1);
  await push(1, 2, new RangeError('x'));
  await end;
  expect(received).toEqual([[1, 2], 'RangeError']);
});
