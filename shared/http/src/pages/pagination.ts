import { createHash } from 'node:crypto';
import type { Keyring } from '@tocsin/runtime';
import { z } from 'zod';
import { invalidRequest } from '../errors/errors.ts';
import { schemaReference } from './schema-reference.ts';
import { type Position, readSegmentPosition, type SortSegment, type SegmentPosition } from './sort-key.ts';

export const DEFAULT_LIMIT = 50;
/** The purpose of the keyring that signs cursors. */
export const CURSOR_PURPOSE = 'cursor';

/** The query parameters of every list (contract: Lists and cursors). */
export const pageQuery = {
  limit: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: `Page size; default: ${DEFAULT_LIMIT}`, default: DEFAULT_LIMIT }),
  cursor: z.string().min(1).max(4096).optional().meta({
    description:
      "The previous page's next_cursor, unchanged, with the same filters and sort; without it, the list starts at its first page",
  }),
};

const paginationObject = z
  .object({
    limit: z.int().min(1).max(100).meta({ description: 'The page size used: the requested one or the default' }),
    has_more: z.boolean().meta({ description: 'Whether there is a further page; a page can be shorter than limit' }),
    next_cursor: z.string().optional().meta({ description: 'The cursor of the next page; absent on the last page' }),
  })
  .meta({ id: 'Pagination' });

/** What every page says about itself (contract: Lists and cursors). */
export const pagination = schemaReference(paginationObject, 'The size of this page, and where the next one starts');

export type Pagination = z.infer<typeof pagination>;

/** The list that a cursor belongs to. A cursor is rejected with any other scope. */
export interface CursorScope {
  workspaceId: number;
  path: string;
  /** The canonical filters and sort, without `limit` and `cursor`. */
  filters?: unknown;
}

export interface Cursors {
  encode(position: SegmentPosition, scope: CursorScope): string;
  /**
   * @throws DomainError `invalid_request` with the parameter as `field` if the cursor is forged or of another scope, or if its
   *   position is in none of these segments, which can happen with a cursor of another release
   */
  decode<Of extends SortSegment>(cursor: string, scope: CursorScope, segments: readonly Of[]): SegmentPosition<Of>;
}

/** Cursors of a list whose sort order has one segment. */
export const cursorsOf = <const Of extends SortSegment>(cursors: Cursors, segment: Of) => ({
  encode: (position: Position<Of>, scope: CursorScope) => cursors.encode({ segment: segment.name, position }, scope),
  decode: (cursor: string, scope: CursorScope): Position<Of> => cursors.decode(cursor, scope, [segment]).position,
});

const MAC_BYTES = 32;

/** @param parameter the query parameter that has the cursor, which errors name */
export function signedCursors(keyring: Keyring, parameter = 'cursor'): Cursors {
  // The scope is signed but not part of the cursor, so that cursors stay short with any filters.
  const message = (payload: Buffer, scope: CursorScope) =>
    Buffer.concat([createHash('sha256').update(canonicalJson(scope)).digest(), payload]);
  return {
    encode({ segment, position }, scope) {
      const payload = Buffer.from(JSON.stringify([segment, ...position]));
      const mac = keyring.sign(message(payload, scope));
      return Buffer.concat([mac, payload]).toString('base64url');
    },
    decode(cursor, scope, segments) {
      const bytes = Buffer.from(cursor, 'base64url');
      const payload = bytes.subarray(MAC_BYTES);
      // Several texts decode to these bytes; only the canonical one is valid.
      if (
        bytes.toString('base64url') !== cursor ||
        !keyring.verify(message(payload, scope), bytes.subarray(0, MAC_BYTES))
      ) {
        throw invalidRequest(parameter, 'Must be a next_cursor of this list with the same filters and sort');
      }
      const segmentPosition = readSegmentPosition(JSON.parse(payload.toString()), segments);
      if (segmentPosition === undefined) {
        throw invalidRequest(parameter, 'Is out of date; start again without a cursor');
      }
      return segmentPosition;
    },
  };
}

/** JSON with sorted keys and no undefined members: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
