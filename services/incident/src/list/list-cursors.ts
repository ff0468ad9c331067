import { type Cursors, type CursorScope, invalidRequest } from '@tocsin/http';
import { readLegacyCursor } from '../shared/domain/legacy-cursor.ts';
import { isLegacyCompatible } from './domain/list-filters.ts';
import type { IncidentQuery } from './store/query.ts';
import type { KeysetPosition, SortSegment } from './store/segments.ts';

/**
 * The cursors of one list (contract: Lists and cursors). They are bound to the list's workspace, path, filters and
 * sort, and hold the name of a sort segment and a position in it.
 */
export function listCursors(cursors: Cursors, query: IncidentQuery, path: string) {
  const { workspaceId, filters, custom, sort } = query;
  const scope: CursorScope = { workspaceId, path, filters: { filters, custom, sort } };
  return {
    /** @throws DomainError `invalid_request` for a cursor that does not lead into these segments of this list */
    decode(cursor: string, segments: readonly SortSegment[]): KeysetPosition {
      const legacy = readLegacyCursor(cursor);
      if (legacy !== undefined) {
        if (takesLegacyCursors(query)) return { segment: 'created_at', keys: [legacy.at], tie: legacy.id };
        throw invalidRequest(
          'cursor',
          'A cursor of this old form is only allowed with the default order and the filters of its time',
        );
      }
      const { segment, position } = cursors.decode(
        cursor,
        scope,
        segments.map(({ name, keys }) => ({ name, keys: ['integer', ...keys] as const })),
      );
      const [tie, ...keys] = position;
      return { segment, keys, tie };
    },

    encode: ({ segment, keys, tie }: KeysetPosition): string =>
      cursors.encode({ segment, position: [tie, ...keys] }, scope),
  };
}

const takesLegacyCursors = ({ archived, filters, custom, sort }: IncidentQuery) =>
  !archived &&
  custom.length === 0 &&
  sort.key === 'created_at' &&
  sort.direction === 'desc' &&
  isLegacyCompatible(filters);
