import { setTimeout as delay } from 'node:timers/promises';

/** Joins items that come while the last batch is handled, and before `pace` milliseconds behind it. */
export async function* batchesOf<Item>(
  items: AsyncIterator<Item>,
  { fits, pace, signal }: { fits(batch: readonly Item[]): boolean; pace: number; signal: AbortSignal },
): AsyncGenerator<Item[], void, undefined> {
  const read = () => {
    const result = items.next();
    // It is awaited later: until then, its error must not end the process.
    result.catch(() => undefined);
    return result;
  };
  let next = read();
  let notBefore = 0;
  for (;;) {
    const first = await next;
    if (first.done === true) return;
    const batch = [first.value];
    next = read();
    const free = delay(Math.max(0, notBefore - performance.now()), undefined, { signal });
    for (;;) {
      const more = await Promise.race([next, free]).catch(() => undefined);
      if (more === undefined || more.done === true || !fits([...batch, more.value])) break;
      batch.push(more.value);
      next = read();
    }
    await free;
    yield batch;
    notBefore = performance.now() + pace;
  }
}
