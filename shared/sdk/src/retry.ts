import type { TocsinError } from './errors.ts';

/** Milliseconds before the first repetition, and at most before a later one. */
const FIRST_WAIT = 250;
const LONGEST_WAIT = 8_000;

/** Seconds; a server that asks for more is not waited for. */
const LONGEST_RETRY_AFTER = 60;

/**
 * Milliseconds until a request is sent again; undefined if it must not be, or would have to wait for too long.
 * @param attempt counted from 0
 */
export function waitBefore({ retryable, retryAfter = 0 }: TocsinError, attempt: number): number | undefined {
  if (!retryable) return undefined;
  if (retryAfter > LONGEST_RETRY_AFTER) return undefined;
  return retryAfter * 1_000 + backoff(attempt);
}

/** Milliseconds that double with each attempt, of which a random part is left out: many clients must not come at once. */
export const backoff = (attempt: number, longest = LONGEST_WAIT): number =>
  Math.min(longest, FIRST_WAIT * 2 ** attempt) * (0.5 + Math.random() / 2);

/** Waits. @throws the reason of the signal as soon as it is aborted */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
  });
}
