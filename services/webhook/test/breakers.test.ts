import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Breakers, breakers as newBreakers } from '../src/clients/breakers.ts';

const HOST = 'down.example';
const SECOND = 1_000;

let ready: number;
let breakers: Breakers;
beforeEach(() => {
  jest.useFakeTimers();
  ready = 0;
  breakers = newBreakers(() => void (ready += 1));
});
afterEach(() => {
  breakers.close();
  jest.useRealTimers();
});

const pass = async (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
const attempt = async (answered: boolean | undefined, host = HOST) => {
  expect(breakers.admit(host)).toBe(true);
  breakers.conclude(host, answered);
  await pass(0);
};
const fail = async (times: number) => {
  for (let n = 0; n < times; n += 1) await attempt(false);
};

describe('a host that does not answer', () => {
  test('is spared after more failures than one subscription can have in a row', async () => {
    await fail(5);
    expect(breakers.refused()).toEqual([]);
    await fail(1);
    expect(breakers.refused()).toEqual([HOST]);
    expect(breakers.admit(HOST)).toBe(false);
    expect(breakers.openCount()).toBe(1);
    expect(breakers.admit('other.example')).toBe(true);
  });

  test('is probed a second later, by one request, and is back when that is answered', async () => {
    await fail(6);
    await pass(SECOND - 1);
    expect({ ready, admitted: breakers.admit(HOST) }).toEqual({ ready: 0, admitted: false });
    await pass(1);
    expect(ready).toBe(1);
    expect([breakers.admit(HOST), breakers.admit(HOST)]).toEqual([true, false]);
    expect(breakers.refused()).toEqual([HOST]);
    breakers.conclude(HOST, true);
    await pass(0);
    expect(breakers.openCount()).toBe(0);
    expect([breakers.admit(HOST), breakers.admit(HOST)]).toEqual([true, true]);
  });

  test('is spared for another second when the probe fails', async () => {
    await fail(6);
    await pass(SECOND);
    await attempt(false);
    expect(breakers.refused()).toEqual([HOST]);
    await pass(SECOND);
    expect(breakers.admit(HOST)).toBe(true);
  });

  test('is probed by another when the probe was called off', async () => {
    await fail(6);
    await pass(SECOND);
    await attempt(undefined);
    expect(breakers.admit(HOST)).toBe(true);
  });

  test('now and then is not spared: failures of more than a minute ago are forgotten', async () => {
    for (let n = 0; n < 20; n += 1) {
      await fail(1);
      await pass(15 * SECOND);
    }
    expect(breakers.refused()).toEqual([]);
  });
});

test('a host that answers half of the time is left alone', async () => {
  for (let n = 0; n < 10; n += 1) {
    await attempt(true);
    await attempt(false);
  }
  expect(breakers.refused()).toEqual([]);
});

test('what was called off says nothing', async () => {
  for (let n = 0; n < 20; n += 1) await attempt(undefined);
  expect(breakers.refused()).toEqual([]);
});

test('remembers no more hosts than fit', async () => {
  await fail(6);
  for (let n = 0; n < 300; n += 1) await attempt(true, `h${n}.example`);
  expect(breakers.openCount()).toBe(0);
  expect(breakers.admit(HOST)).toBe(true);
});
