import { setImmediate } from 'node:timers/promises';

/** Items of a part: it takes a few milliseconds at most. */
const PART = 500;

/** Maps items. Other work of the process has its turn after each part of many. */
export async function mapInParts<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % PART === 0) await setImmediate();
    results.push(map(item, index));
  }
  return results;
}
