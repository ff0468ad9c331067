import { type Clock, type Instant, later } from '@tocsin/runtime';

/** A clock that stands still until a test moves it. */
export interface TestClock extends Clock {
  /** Milliseconds. */
  advance(by: number): void;
  /** To the beginning of the next minute. */
  toNextMinute(): void;
  /** To the real time, which may be back. */
  toPresent(): void;
}

/** @param start the present, unless given: signatures are then fresh for whoever checks them */
export function testClock(start: Instant = new Date().toISOString()): TestClock {
  let now = start;
  return {
    now: () => now,
    advance: (by) => {
      now = later(now, by);
    },
    toNextMinute: () => {
      now = new Date((Math.floor(Date.parse(now) / 60_000) + 1) * 60_000).toISOString();
    },
    toPresent: () => {
      now = new Date().toISOString();
    },
  };
}
