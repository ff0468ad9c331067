/**
 * Milliseconds before a new connection, by the number of attempts that failed; the last value repeats. Not less than a
 * second: if a deleted queue exists again before the broker has cancelled its consumers, the broker moves them to the
 * new queue silently and delivers to nobody.
 */
const RECONNECT_DELAYS = [1_000, 2_000, 5_000, 10_000];

/** Up to half longer at random, so that the consumers of a broker that comes back do not all connect at once. */
export const reconnectDelay = (failures: number, random = Math.random()): number =>
  nth(RECONNECT_DELAYS, failures) * (1 + random / 2);

/** The value at an index, or the last one beyond it. */
export const nth = (values: readonly number[], index: number): number =>
  values[Math.min(index, values.length - 1)] ?? 0;

/** Resolves after a time, or as soon as the signal is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}

/** Waits for a promise, at most for a time. @throws the error of `onTimeout` */
export async function within<Result>(
  promise: Promise<Result>,
  milliseconds: number,
  onTimeout: () => Result | Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Result>((resolve, reject) => {
    timer = setTimeout(() => {
      Promise.resolve().then(onTimeout).then(resolve, reject);
    }, milliseconds);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}
