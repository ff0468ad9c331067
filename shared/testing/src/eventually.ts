import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds; less than a test may take, so that a failure says what did not happen. */
const LONG = 120_000;
/** Milliseconds between two calls of a probe. */
const [SHORTEST_PAUSE, LONGEST_PAUSE] = [20, 100];

/**
 * Waits for an asynchronous effect: calls `probe` until it returns a value other than `undefined` and `false`. The longer
 * it has waited, the longer are the pauses, because probes take time from what they wait for.
 * @throws after `within` milliseconds, with the last error of `probe` as the cause
 */
export async function eventually<Value>(
  probe: () => Promise<Value | undefined | false> | Value | undefined | false,
  { within = LONG, what = 'the condition' }: { within?: number; what?: string } = {},
): Promise<Value> {
  const start = Date.now();
  const deadline = start + within;
  let lastError: unknown;
  while (Date.now() < deadline) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    await delay(Math.min(LONGEST_PAUSE, Math.max(SHORTEST_PAUSE, (Date.now() - start) / 10)));
  }
  throw new Error(`${what} did not happen within ${within} ms`, { cause: lastError });
}
