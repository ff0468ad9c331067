import { ceilTimestamp } from '@tocsin/contracts';
import { type Cursors, type CursorScope, invalid } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { z } from 'zod';
import { isLegacyCompatible, type TimelineFilters, timelineFilters } from '../domain/timeline-filters.ts';
import type { TimelinePosition } from '../store/timeline-list.ts';
import { readLegacyCursor } from './legacy-cursor.ts';
import type { timelineQuery } from './timeline-wire.ts';

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

/** What a timeline's cursors belong to. */
export const timelineScope = (workspaceId: number, incidentId: number, filters: TimelineFilters): CursorScope => ({
  workspaceId,
  path: `/api/v1/incidents/${incidentId}/timeline`,
  filters,
});

/** Where a page begins. @throws DomainError `invalid_request` for a cursor of something else */
export function positionOf(
  cursor: string,
  { cursors, scope, filters }: { cursors: Cursors; scope: CursorScope; filters: TimelineFilters },
): TimelinePosition {
  const legacy = readLegacyCursor(cursor);
  if (legacy !== undefined) {
    if (isLegacyCompatible(filters)) return { startedAt: legacy.at, id: legacy.id };
    throw invalid('cursor', 'A cursor of this form takes ascending order, and no filters but those by time');
  }
  const [startedAt, id] = cursors.decode(cursor, scope) as [Instant, number];
  return { startedAt, id };
}
