import { type Clock, type Instant, addMilliseconds } from '@tocsin/runtime';

/** A clock that stands still until a test advances it. */
export interface TestClock extends Clock {
  /** Milliseconds. */
  advance(by: number): void;
  /** Advances to the beginning of the next minute. */
  toNextMinute(): void;
  /** Sets the real time, which may be earlier. */
  toPresent(): void;
}

/** @param start default: the real time, so that signatures are fresh when they are verified */
export function testClock(start: Instant = new Date().toISOString()): TestClock {
  let now = start;
  return {
    now: () => now,
    advance: (by) => {
      now = addMilliseconds(now, by);
    },
    toNextMinute: () => {
      now = new Date((Math.floor(Date.parse(now) / 60_000) + 1) * 60_000).toISOString();
    },
    toPresent: () => {
      now = new Date().toISOString();
    },
  };
}
