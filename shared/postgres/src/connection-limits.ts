import type { Limits, LeaseHolder } from '@tocsin/runtime';

export const BACKGROUND = Symbol('background');
/** Who uses a connection: a request's workspace or calling service, or background work. */
export type ConnectionHolder = LeaseHolder | typeof BACKGROUND;

/** Milliseconds. */
export const WAITS = { request: 5_000, background: 8_000 };
/** Of one holder, at the same time. */
const MAX_WAITING = 200;

/** The limits of a pool that requests of several workspaces use (ADR 23). */
export function sharedLimits(size: number): Limits<ConnectionHolder> {
  const ofBackground = Math.max(1, Math.ceil(size * 0.5));
  const ofWorkspace = Math.max(1, Math.ceil(size * 0.3));
  return {
    all: size,
    holder: (holder) => (holder === BACKGROUND ? ofBackground : ofWorkspace),
    reserved: { for: BACKGROUND, amount: Math.floor(size * 0.2) },
    waiting: MAX_WAITING,
  };
}

/** The limits of a pool that one piece of work has for itself. */
export const unsharedLimits = (size: number): Limits<ConnectionHolder> => ({ all: size, waiting: MAX_WAITING });
