/** A moment as the API writes it: RFC 3339, UTC, three decimals, `Z`. Compares as text. */
export type Instant = string;

/** The source of the current time; tests pass their own. */
export interface Clock {
  now(): Instant;
}

export const systemClock: Clock = { now: () => new Date().toISOString() };

/** Adds a signed number of milliseconds. */
export function addMilliseconds(instant: Instant, milliseconds: number): Instant {
  return new Date(Date.parse(instant) + milliseconds).toISOString();
}
