import { isLargeValue, type LargeValue, MAX_VALUE_BYTES } from '@tocsin/contracts';
import type { Change } from './changes.ts';
import { toLargeValue } from './large-value.ts';

/** All values of one entry together have about this many bytes of JSON at most. */
const MAX_ENTRY_BYTES = 65_536;

/** Changes as changelog and events contain them, and the bytes of JSON of the values before they were shortened. */
export interface ShortenedChanges {
  changes: Change[];
  bytes: number;
}

/** As `shortenValues`, for what changes contain. */
export function shortenChanges(changes: readonly Change[]): ShortenedChanges {
  const { values, bytes } = shortenValues(changes.flatMap(({ from, to }) => [from, to]));
  return {
    changes: changes.map(({ field }, index) => ({ field, from: values[2 * index], to: values[2 * index + 1] })),
    bytes,
  };
}

/**
 * Replaces large values by their digests: those above `MAX_VALUE_BYTES`, and then the largest ones until the others fit
 * into `MAX_ENTRY_BYTES` (contract: Large values). The result does not change when it is shortened again.
 */
export function shortenValues(values: readonly unknown[]): { values: unknown[]; bytes: number } {
  const sizes = values.map((value, index) => ({ index, bytes: isLargeValue(value) ? 0 : sizeOf(value) }));
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
  const large = new Set<number>();
  let rest = bytes;
  for (const size of sizes.toSorted((a, b) => b.bytes - a.bytes)) {
    if (size.bytes <= MAX_VALUE_BYTES && rest <= MAX_ENTRY_BYTES) break;
    large.add(size.index);
    rest -= size.bytes;
  }
  return { values: values.map((value, index) => (large.has(index) ? toLargeValue(value) : value)), bytes };
}

/** Returns the value, or its digest if it is large. */
export const shortenValue = <Value>(value: Value): Value | LargeValue =>
  sizeOf(value) > MAX_VALUE_BYTES ? toLargeValue(value) : value;

const sizeOf = (value: unknown) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));
