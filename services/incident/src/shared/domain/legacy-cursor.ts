import { parseTimestamp } from '@tocsin/contracts';
import type { Instant } from '@tocsin/runtime';

/**
 * Reads a cursor of the old, unsigned form: base64url of `<RFC 3339 timestamp>|<id>`, a position in an order by time
 * and ID (contract: Lists and cursors).
 * @returns `undefined` for any other text
 */
export function readLegacyCursor(cursor: string): { at: Instant; id: number } | undefined {
  if (!/^[\w-]+={0,2}$/.test(cursor)) return undefined;
  const [, time, digits] = /^([^|]+)\|([1-9]\d*)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const at = time === undefined ? undefined : parseTimestamp(time);
  const id = Number(digits);
  return at === undefined || !Number.isSafeInteger(id) ? undefined : { at, id };
}
