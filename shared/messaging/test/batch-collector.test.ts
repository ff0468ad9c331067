import { expect, test } from '@jest/globals';
import { collectBatches } from '../src/batch-collector.ts';
import type { Disposition, IncomingMessage } from '../src/broker.ts';

const message = (body: string): IncomingMessage => ({ body: Buffer.from(body), redelivered: false });

/** Collects batches of at most three messages and ten bytes; each is handled when `finish` is called. */
function collector(disposition: (body: string) => Disposition = () => 'ack', gathering = 0) {
  const batches: string[][] = [];
  const open: (() => void)[] = [];
  const { handle, stop } = collectBatches(
    async (messages) => {
      const bodies = messages.map(({ body }) => body.toString());
      batches.push(bodies);
      await new Promise<void>((resolve) => open.push(resolve));
      return bodies.map(disposition);
    },
    { messages: 3, bytes: 10, concurrent: 1, gathering },
  );
  const turn = async () => new Promise((resolve) => setImmediate(resolve));
  return {
    batches,
    stop,
    add: async (...bodies: string[]) => Promise.all(bodies.map(async (body) => handle(message(body)))),
    begun: turn,
    finish: async () => {
      open.shift()?.();
      await turn();
    },
  };
}

test('messages that arrive together are one batch, and those that arrive meanwhile the next one', async () => {
  const { batches, add, begun, finish } = collector();
  const first = add('a', 'b');
  await begun();
  const second = add('c', 'd');
  await begun();
  expect(batches).toEqual([['a', 'b']]);
  await finish();
  expect(await first).toEqual(['ack', 'ack']);
  expect(batches).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  await finish();
  expect(await second).toEqual(['ack', 'ack']);
});

test('the next batch gathers messages until it is full', async () => {
  const { batches, add, begun, finish, stop } = collector(() => 'ack', 3_600_000);
  const first = add('a');
  await begun();
  await finish();
  expect(await first).toEqual(['ack']);
  const next = add('b', 'c');
  await begun();
  expect(batches).toEqual([['a']]);
  const last = add('d');
  await begun();
  await finish();
  expect([await next, await last, batches]).toEqual([['ack', 'ack'], ['ack'], [['a'], ['b', 'c', 'd']]]);
  stop();
});

test('a batch is bounded by number and by bytes, but has one message at least', async () => {
  const { batches, add, begun, finish } = collector();
  const huge = 'x'.repeat(11);
  const all = add('a', 'b', 'c', 'd', '12345', '6789', '0', huge, huge, 'e');
  await begun();
  for (let batch = 0; batch < 6; batch += 1) await finish();
  expect(await all).toHaveLength(10);
  expect(batches).toEqual([['a', 'b', 'c'], ['d', '12345', '6789'], ['0'], [huge], [huge], ['e']]);
});

test('a handler that throws retries the messages of its batch alone', async () => {
  let calls = 0;
  const { handle } = collectBatches(
    async (messages) => {
      calls += 1;
      if (calls === 1) throw new Error('failed');
      return messages.map(() => 'ack');
    },
    { messages: 2, bytes: 10, concurrent: 1 },
  );
  const dispositions = await Promise.all(['a', 'b', 'c'].map(async (body) => handle(message(body))));
  expect(dispositions).toEqual(['retry', 'retry', 'ack']);
});

test('messages that the broker delivers again do not pile up', async () => {
  const handled: string[][] = [];
  const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { handle } = collectBatches(
    async (messages) => {
      handled.push(messages.map(({ body }) => body.toString()));
      begun.resolve();
      await finish.promise;
      return messages.map(() => 'ack');
    },
    { messages: 3, bytes: 100, concurrent: 1 },
  );
  let connection = 0;
  const dispositions: Promise<Disposition>[] = [];
  const deliver = (...bodies: string[]) => {
    const own = (connection += 1);
    for (const body of bodies) dispositions.push(handle({ ...message(body), isLost: () => own !== connection }));
  };
  deliver('a', 'b', 'c');
  await begun.promise;
  for (let reconnection = 0; reconnection < 50; reconnection += 1) deliver('a', 'b', 'c');
  finish.resolve();
  const settled = await Promise.all(dispositions);
  expect(handled.flat().length).toBeLessThanOrEqual(9);
  expect(handled.at(-1)).toEqual(['a', 'b', 'c']);
  expect(settled.slice(-3)).toEqual(['ack', 'ack', 'ack']);
});

test('after a stop the batch in progress ends, and all other messages are left', async () => {
  const { batches, add, begun, finish, stop } = collector();
  const all = add('a', 'b', 'c', 'd', 'e');
  await begun();
  stop();
  expect(await add('f')).toEqual(['leave']);
  await finish();
  expect(await all).toEqual(['ack', 'ack', 'ack', 'leave', 'leave']);
  expect(batches).toEqual([['a', 'b', 'c']]);
});

test('as many batches are handled at the same time as the bounds allow', async () => {
  const [running, finish] = [new Set<string>(), Promise.withResolvers<void>()];
  const { handle } = collectBatches(
    async ([one]) => {
      running.add(String(one?.body));
      await finish.promise;
      return ['ack'];
    },
    { messages: 1, bytes: 0, concurrent: 2 },
  );
  const all = ['a', 'b', 'c'].map(async (body) => handle(message(body)));
  await new Promise((resolve) => setImmediate(resolve));
  expect([...running]).toEqual(['a', 'b']);
  finish.resolve();
  expect(await Promise.all(all)).toEqual(['ack', 'ack', 'ack']);
});
