import { createHash } from 'node:crypto';
import type { Keyring } from '@tocsin/runtime';
import { z } from 'zod';
import { invalid } from './errors.ts';

export const DEFAULT_LIMIT = 50;
/** The purpose of the keyring that signs cursors. */
export const CURSOR_PURPOSE = 'cursor';

/** The query parameters of every collection (contract: Lists and cursors). */
export const pageQuery = {
  limit: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: `Page size, default ${DEFAULT_LIMIT}` }),
  cursor: z.string().min(1).max(4096).optional().meta({ description: "The previous page's next_cursor, unchanged" }),
};

export const pagination = z
  .object({
    limit: z.int().min(1).max(100),
    has_more: z.boolean(),
    next_cursor: z.string().optional(),
  })
  .meta({ id: 'Pagination' });

export type Pagination = z.infer<typeof pagination>;

/** A sort position: the values of the sort keys of the last row of a page. */
export type Position = readonly (string | number | boolean | null)[];

/** What a cursor belongs to; with any other it is refused. */
export interface CursorScope {
  workspaceId: number;
  path: string;
  /** The canonical filters and sort, `limit` and `cursor` left out. */
  filters?: unknown;
}

export interface Cursors {
  encode(position: Position, scope: CursorScope): string;
  /** @throws DomainError `invalid_request` with `field: "cursor"` for one that is forged, foreign or of another scope */
  decode(cursor: string, scope: CursorScope): Position;
}

const MAC_BYTES = 32;

export function signedCursors(keyring: Keyring): Cursors {
  // The scope is part of what is signed and not of what is sent: a cursor stays short whatever the filters.
  const message = (payload: Buffer, scope: CursorScope) =>
    Buffer.concat([createHash('sha256').update(canonicalJson(scope)).digest(), payload]);
  return {
    encode(position, scope) {
      const payload = Buffer.from(JSON.stringify(position));
      const mac = keyring.sign(message(payload, scope));
      return Buffer.concat([mac, payload]).toString('base64url');
    },
    decode(cursor, scope) {
      const bytes = Buffer.from(cursor, 'base64url');
      const payload = bytes.subarray(MAC_BYTES);
      // Of all texts that decode to these bytes, only the one that was given out.
      if (
        bytes.toString('base64url') !== cursor ||
        !keyring.verify(message(payload, scope), bytes.subarray(0, MAC_BYTES))
      ) {
        throw invalid('cursor', 'The cursor does not belong to this list, its filters and its sort');
      }
      return JSON.parse(payload.toString()) as Position;
    },
  };
}

/** The page that `limit + 1` fetched rows make, and the cursor to the next. */
export function paginate<Row>(options: { rows: readonly Row[]; limit: number; nextCursor: (last: Row) => string }): {
  page: Row[];
  pagination: Pagination;
} {
  const page = options.rows.slice(0, options.limit);
  const last = page.at(-1);
  const more = options.rows.length > options.limit && last !== undefined;
  return {
    page,
    pagination: { limit: options.limit, has_more: more, ...(more && { next_cursor: options.nextCursor(last) }) },
  };
}

/** JSON with sorted keys and no undefined members: equal values make equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
