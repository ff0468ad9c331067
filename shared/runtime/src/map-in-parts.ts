import { setImmediate } from 'node:timers/promises';

/** Milliseconds after which other work of the process has its turn. */
const PART = 10;

/** Maps items, a part at a time. */
export async function mapInParts<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let start = performance.now();
  for (const [index, item] of items.entries()) {
    if (performance.now() - start > PART) {
      await setImmediate();
      start = performance.now();
    }
    results.push(map(item, index));
  }
  return results;
}
