import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for something that another process or the next sweep brings about: looks again until `probe` answers something,
 * and fails with what it saw last when `within` milliseconds have gone by.
 */
export async function eventually<Value>(
  probe: () => Promise<Value | undefined | false> | Value | undefined | false,
  { within = 10_000, what = 'the condition' }: { within?: number; what?: string } = {},
): Promise<Value> {
  const deadline = Date.now() + within;
  let lastError: unknown;
  while (Date.now() < deadline) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    await delay(20);
  }
  throw new Error(`${what} did not come about within ${within} ms`, { cause: lastError });
}
