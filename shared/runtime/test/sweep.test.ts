import { describe, expect, test } from '@jest/globals';
import { createLogger, startSweep } from '../src/index.ts';

const log = createLogger({ app: 'test', level: 'silent' });
/** Only waking starts it: its interval never comes. */
const HOURS = 10_000_000;

const sweepOf = (work: () => Promise<boolean>) => startSweep({ name: 'test', interval: HOURS, log, work });

async function inTurns(turns: number, then: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
  then();
}

describe('a sweep', () => {
  test('goes on while there is more', async () => {
    let left = 3;
    const done = Promise.withResolvers<void>();
    const sweep = sweepOf(async () => {
      left -= 1;
      if (left === 0) done.resolve();
      return left > 0;
    });
    sweep.wake();
    await done.promise;
    await sweep.stop();
    expect(left).toBe(0);
  });

  // One of these turns lies between its last look at whether it was woken and its end.
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('does not miss a wake-up that comes %i turns after its work', async (turns) => {
    let runs = 0;
    const again = Promise.withResolvers<void>();
    const sweep = sweepOf(async () => {
      runs += 1;
      if (runs === 2) again.resolve();
      else void inTurns(turns, () => sweep.wake());
      return false;
    });
    sweep.wake();
    await again.promise;
    await sweep.stop();
  });

  test('never overlaps itself, and does not miss a wake-up while it runs', async () => {
    let running = 0;
    let runs = 0;
    const second = Promise.withResolvers<void>();
    const sweep = sweepOf(async () => {
      running += 1;
      expect(running).toBe(1);
      runs += 1;
      if (runs === 1) {
        sweep.wake();
        sweep.wake();
      } else second.resolve();
      await Promise.resolve();
      running -= 1;
      return false;
    });
    sweep.wake();
    await second.promise;
    await sweep.stop();
    expect(runs).toBe(2);
  });

  test('survives a failure', async () => {
    let runs = 0;
    const failed = Promise.withResolvers<void>();
    const recovered = Promise.withResolvers<void>();
    const sweep = sweepOf(async () => {
      runs += 1;
      if (runs === 1) {
        failed.resolve();
        throw new Error('down');
      }
      recovered.resolve();
      return false;
    });
    sweep.wake();
    await failed.promise;
    // The failed run ends in a later turn of the event loop.
    await new Promise(setImmediate);
    sweep.wake();
    await recovered.promise;
    await sweep.stop();
    expect(runs).toBe(2);
  });

  test('stops after the run under way, and does not start again', async () => {
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    let runs = 0;
    const sweep = sweepOf(async () => {
      runs += 1;
      entered.resolve();
      await leave.promise;
      return true;
    });
    sweep.wake();
    await entered.promise;
    const stopped = sweep.stop();
    leave.resolve();
    await stopped;
    sweep.wake();
    expect(runs).toBe(1);
  });
});
