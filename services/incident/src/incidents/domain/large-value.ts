import { createHash } from 'node:crypto';
import type { LargeValue } from '@tocsin/contracts';

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
