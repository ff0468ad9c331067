/**
 * Waits for `work` for a limited time; `work` itself goes on afterwards.
 * @param milliseconds how long
 * @param onTimeout what to return, or throw, when the time is over
 */
export async function withTimeout<Result, Late>(
  work: Promise<Result>,
  milliseconds: number,
  onTimeout: () => Late,
): Promise<Result | Late> {
  const { promise: timeout, resolve } = Promise.withResolvers<() => Late>();
  const timer = setTimeout(() => resolve(onTimeout), milliseconds);
  try {
    return await Promise.race([work, timeout.then((late) => late())]);
  } finally {
    clearTimeout(timer);
  }
}
