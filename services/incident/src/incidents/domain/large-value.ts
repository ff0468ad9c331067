import { createHash } from 'node:crypto';
import { isLargeValue, type LargeValue, MAX_VALUE_BYTES } from '@tocsin/schemas';

/** All values of one entry together have about this many bytes of JSON at most. */
const MAX_ENTRY_BYTES = 65_536;

/** What changelog and events have instead of a large value (contract: Large values). */
export function toLargeValue(value: unknown): LargeValue {
  const json = Buffer.from(canonical(value));
  return { digest: `sha256:${createHash('sha256').update(json).digest('hex')}`, bytes: json.length };
}

/** The value's JSON as RFC 8785 defines it, so that equal values have equal digests. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value as Record<string, unknown>)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.join(',')}}`;
}

/**
 * Replaces large values by their digests: those above `MAX_VALUE_BYTES`, and then the largest ones until the others fit
 * into `MAX_ENTRY_BYTES` (contract: Large values). The result does not change when it is shortened again.
 */
export function shortenValues(values: readonly unknown[]): { values: unknown[]; bytes: number } {
  const sizes = values.map((value, index) => ({ index, bytes: isLargeValue(value) ? 0 : sizeOf(value) }));
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
  const large = new Set<number>();
  let keptBytes = bytes;
  for (const size of sizes.toSorted((a, b) => b.bytes - a.bytes)) {
    if (size.bytes <= MAX_VALUE_BYTES && keptBytes <= MAX_ENTRY_BYTES) break;
    large.add(size.index);
    keptBytes -= size.bytes;
  }
  return { values: values.map((value, index) => (large.has(index) ? toLargeValue(value) : value)), bytes };
}

/** As `shortenValues`, for values by their names. */
export function shortenFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { values } = shortenValues(Object.values(fields));
  // Not by assignment: a slug may be the name of an inherited property.
  return Object.fromEntries(Object.keys(fields).map((slug, index) => [slug, values[index]]));
}

/** Returns the value, or its digest if it is large. */
export const shortenValue = <Value>(value: Value): Value | LargeValue =>
  sizeOf(value) > MAX_VALUE_BYTES ? toLargeValue(value) : value;

const sizeOf = (value: unknown) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));
