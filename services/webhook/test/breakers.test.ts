import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type HostBreakers, hostBreakers } from '../src/requests/clients/breakers.ts';

const HOST = 'down.example';
const SECOND = 1_000;

let ready: number;
let breakers: HostBreakers;
beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  ready = 0;
  breakers = hostBreakers(() => void (ready += 1));
});
afterEach(() => {
  breakers.close();
  mock.timers.reset();
});

/** Lets time pass, and what waits for it run. */
const pass = async (milliseconds: number) => {
  mock.timers.tick(milliseconds);
  await setImmediate();
};
const attempt = async (isReachable: boolean | undefined, host = HOST) => {
  expect(breakers.admit(host)).toBe(true);
  breakers.record(host, isReachable);
  await pass(0);
};
const fail = async (times: number) => {
  for (let n = 0; n < times; n += 1) await attempt(false);
};

describe('an unreachable host', () => {
  test('is blocked after more failures than pause one subscription', async () => {
    await fail(5);
    expect(breakers.blockedHosts()).toEqual([]);
    await fail(1);
    expect(breakers.blockedHosts()).toEqual([HOST]);
    expect(breakers.admit(HOST)).toBe(false);
    expect(breakers.openCount()).toBe(1);
    expect(breakers.admit('other.example')).toBe(true);
  });

  test('is probed by one request after a second, and unblocked when that succeeds', async () => {
    await fail(6);
    await pass(SECOND - 1);
    expect({ ready, admitted: breakers.admit(HOST) }).toEqual({ ready: 0, admitted: false });
    await pass(1);
    expect(ready).toBe(1);
    expect([breakers.admit(HOST), breakers.admit(HOST)]).toEqual([true, false]);
    expect(breakers.blockedHosts()).toEqual([HOST]);
    breakers.record(HOST, true);
    await pass(0);
    expect(breakers.openCount()).toBe(0);
    expect([breakers.admit(HOST), breakers.admit(HOST)]).toEqual([true, true]);
  });

  test('is blocked for another second when the probe fails', async () => {
    await fail(6);
    await pass(SECOND);
    await attempt(false);
    expect(breakers.blockedHosts()).toEqual([HOST]);
    await pass(SECOND);
    expect(breakers.admit(HOST)).toBe(true);
  });

  test('is probed again when the probe was cancelled', async () => {
    await fail(6);
    await pass(SECOND);
    await attempt(undefined);
    expect(breakers.admit(HOST)).toBe(true);
  });

  test('is not blocked by failures that are more than a minute apart', async () => {
    for (let n = 0; n < 20; n += 1) {
      await fail(1);
      await pass(15 * SECOND);
    }
    expect(breakers.blockedHosts()).toEqual([]);
  });
});

test('evicts hosts beyond its capacity', async () => {
  await fail(6);
  for (let n = 0; n < 300; n += 1) await attempt(true, `h${n}.example`);
  expect(breakers.openCount()).toBe(0);
  expect(breakers.admit(HOST)).toBe(true);
});
