import { createHash } from 'node:crypto';
import { z } from 'zod';

/** Changelog and events have larger values, as compact JSON, only as their digest (contract: Large values). */
export const MAX_VALUE_BYTES = 4_096;

/** Stands for a value that is too large for changelog and events. */
export const largeValue = z
  .strictObject({
    digest: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .meta({ description: 'SHA-256 of the value as canonical JSON (RFC 8785)' }),
    bytes: z.int().min(1).meta({ description: 'The length of that JSON in UTF-8' }),
  })
  .meta({ description: 'Stands for a value that is too large: normally one of more than 4 KiB of JSON' });

export type LargeValue = z.infer<typeof largeValue>;

export const isLargeValue = (value: unknown): value is LargeValue => largeValue.safeParse(value).success;

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
