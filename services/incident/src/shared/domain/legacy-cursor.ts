import { parseTimestamp } from '@tocsin/schemas';
import { canonicalJson, invalidRequest } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

/**
 * Reads a legacy cursor, base64url of `<RFC 3339 timestamp>|<id>` (contract: Lists and cursors). It is not signed, so it is
 * only a position in the default order of a list of one workspace.
 * @param list.selection the filters and sort of the request, and `list.compatible` those of them that lists had when they
 *   gave out these cursors, with the defaults of the others
 * @returns `undefined` for anything else than a legacy cursor
 * @throws DomainError `invalid_request` if the request has other filters, or another sort
 */
export function readLegacyCursor(
  cursor: string,
  list: { selection: unknown; compatible: unknown },
): { at: Instant; id: number } | undefined {
  if (!/^[\w-]+={0,2}$/.test(cursor)) return undefined;
  const [, time = '', digits] = /^([^|]+)\|([1-9]\d*)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const at = parseTimestamp(time);
  const id = Number(digits);
  if (at === undefined || !Number.isSafeInteger(id)) return undefined;
  if (canonicalJson(list.selection) === canonicalJson(list.compatible)) return { at, id };
  throw invalidRequest('cursor', 'Is a legacy cursor, which needs the default order and only the filters of its time');
}
