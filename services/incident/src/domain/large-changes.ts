import { isLargeValue, MAX_VALUE_BYTES } from '@tocsin/contracts';
import type { Change } from './changes.ts';
import { toLargeValue } from './large-value.ts';

/** All values of one entry together have about this many bytes of JSON at most. */
const MAX_ENTRY_BYTES = 65_536;

/** Changes as changelog and events contain them, and the bytes of JSON of the values before they were shortened. */
export interface ShortenedChanges {
  changes: Change[];
  bytes: number;
}

/**
 * Replaces large values by their digests: those above `MAX_VALUE_BYTES`, and then the largest ones until the others fit
 * into `MAX_ENTRY_BYTES` (contract: Large values). The result does not change when it is shortened again.
 */
export function shortenChanges(changes: readonly Change[]): ShortenedChanges {
  const sizes = changes
    .flatMap(({ from, to }) => [from, to])
    .map((value, index) => ({ index, bytes: isLargeValue(value) ? 0 : sizeOf(value) }));
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
  const large = new Set<number>();
  let rest = bytes;
  for (const size of sizes.toSorted((a, b) => b.bytes - a.bytes)) {
    if (size.bytes <= MAX_VALUE_BYTES && rest <= MAX_ENTRY_BYTES) break;
    large.add(size.index);
    rest -= size.bytes;
  }
  const shortened = (value: unknown, index: number) => (large.has(index) ? toLargeValue(value) : value);
  return {
    changes: changes.map(({ field, from, to }, index) => ({
      field,
      from: shortened(from, 2 * index),
      to: shortened(to, 2 * index + 1),
    })),
    bytes,
  };
}

const sizeOf = (value: unknown) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));
