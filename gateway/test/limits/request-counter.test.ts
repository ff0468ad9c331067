import { expect, test } from '@jest/globals';
import { memoryRequestCounter } from '../../src/limits/clients/request-counter.ts';

test('counts the requests of each key in one window', async () => {
  const counter = memoryRequestCounter();
  expect((await counter.count('a')).requests).toBe(1);
  const second = await counter.count('a');
  expect(second.requests).toBe(2);
  expect(second.remaining).toBeGreaterThan(0);
  expect(second.remaining).toBeLessThanOrEqual(60_000);
  expect((await counter.count('b')).requests).toBe(1);
});

test('keeps the windows that were used last, however many keys there are', async () => {
  const counter = memoryRequestCounter({ bytes: 10 * 256 });
  await counter.count('idle');
  for (let key = 0; key < 1_000; key += 1) {
    await counter.count('busy');
    await counter.count(`address ${key}`);
  }
  expect((await counter.count('busy')).requests).toBe(1_001);
  expect((await counter.count('idle')).requests).toBe(1);
});
