import { ceilTimestamp } from '@tocsin/contracts';
import { type Cursors, type CursorScope, cursorsOf, invalidRequest } from '@tocsin/http';
import type { z } from 'zod';
import { isLegacyCompatible, type TimelineFilters, timelineFilters } from '../domain/timeline-filters.ts';
import type { TimelinePosition } from '../store/timeline-list.ts';
import { readLegacyCursor } from '../../shared/domain/legacy-cursor.ts';
import type { timelineQuery } from './wire.ts';

/** Returns the normalised filters of a query. */
export function filtersOf(query: z.infer<typeof timelineQuery>): TimelineFilters {
  const moment = (text: string | undefined) => (text === undefined ? undefined : ceilTimestamp(text));
  return timelineFilters({
    order: query.order,
    typeOrSource: query.type_or_source,
    tags: query.tag,
    keyOnly: query.key_only,
    groups: query.group,
    text: query.q,
    suggestions: query.suggestions,
    startedFrom: moment(query.started_from),
    startedTo: moment(query.started_to),
  });
}

/** A timeline's cursors, except those of the old form. */
export const timelineCursors = (cursors: Cursors) =>
  cursorsOf(cursors, { name: 'started_at', keys: ['timestamp', 'integer'] });

/** The scope of a timeline's cursors. */
export const timelineScope = (workspaceId: number, incidentId: number, filters: TimelineFilters): CursorScope => ({
  workspaceId,
  path: `/api/v1/incidents/${incidentId}/timeline`,
  filters,
});

/** Returns the position before a page. @throws DomainError `invalid_request` for a cursor of another scope */
export function positionOf(
  cursor: string,
  { cursors, scope, filters }: { cursors: Cursors; scope: CursorScope; filters: TimelineFilters },
): TimelinePosition {
  const legacy = readLegacyCursor(cursor);
  if (legacy !== undefined) {
    if (isLegacyCompatible(filters)) return { startedAt: legacy.at, id: legacy.id };
    throw invalidRequest(
      'cursor',
      'A cursor of this form is only allowed with ascending order and without filters other than time bounds',
    );
  }
  const [startedAt, id] = timelineCursors(cursors).decode(cursor, scope);
  return { startedAt, id };
}
