/**
 * Keeps what is cached for all requests no older than `ttl`, by a version that every change raises. Returns a function
 * to call before the caches are used: it returns nothing if the version was read less than `ttl` ago, or else a promise
 * that resolves when it has been read. All requests share one look-up, which begins early, so that few wait for it.
 * @param options.onChange called when the version is another one than before
 */
export function versionCheck(options: {
  /** Milliseconds. */
  ttl: number;
  find: () => Promise<number>;
  onChange: () => void;
}): () => Promise<void> | undefined {
  let version: number | undefined;
  /** When the last look-up that succeeded began; the clock of `performance`. */
  let checkedAt = -Infinity;
  let running: Promise<void> | undefined;

  const check = async (): Promise<void> => {
    const start = performance.now();
    const current = await options.find();
    if (current !== version) options.onChange();
    version = current;
    checkedAt = start;
  };
  const checkOnce = async (): Promise<void> => {
    running ??= check().finally(() => (running = undefined));
    return running;
  };

  return () => {
    const age = performance.now() - checkedAt;
    if (age >= options.ttl) return checkOnce();
    // A failure is reported to the requests that have to wait.
    if (age >= options.ttl / 2 && running === undefined) checkOnce().catch(() => undefined);
    return undefined;
  };
}
