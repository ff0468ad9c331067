import { SUGGESTION } from '../domain/timeline-event.ts';
import type { TimelineFilters } from '../domain/timeline-filters.ts';
import { containsText } from '../../shared/store/contains-text.ts';
import { type Sql, sql } from '../../shared/store/sql.ts';

/** The filters by time, as conditions on events. */
export const timeConditions = ({ startedFrom, startedTo }: TimelineFilters): Sql[] => [
  ...(startedFrom === null ? [] : [sql`started_at >= ${startedFrom}`]),
  ...(startedTo === null ? [] : [sql`started_at < ${startedTo}`]),
];

/** All filters except those by time and by text. */
export function propertyConditions(filters: TimelineFilters): Sql[] {
  const { typeOrSource, tags, keyOnly, groups, ungrouped, suggestions } = filters;
  return [
    ...(typeOrSource === null ? [] : [hasTypeOrSource(typeOrSource)]),
    ...(tags.length === 0 ? [] : [sql`tags_folded && ${tags}::text[]`]),
    ...(keyOnly ? [sql`is_key`] : []),
    ...(groups.length === 0 && !ungrouped ? [] : [inGroups(groups, ungrouped)]),
    ...(suggestions === 'include'
      ? []
      : [suggestions === 'only' ? sql`type_folded = ${SUGGESTION}` : sql`type_folded <> ${SUGGESTION}`]),
  ];
}

const inGroups = (groups: readonly number[], ungrouped: boolean): Sql =>
  ungrouped
    ? sql`(group_id = any(${groups}::bigint[]) or group_id is null)`
    : sql`(group_id = any(${groups}::bigint[]))`;

function hasTypeOrSource(value: string): Sql {
  if (value !== 'ai') return sql`(type_folded = ${value} or source_folded = ${value})`;
  return sql`(source_folded in ('ai', 'ai_investigation', 'investigation')
    or (type_folded = 'investigation' and source_folded = 'manual'))`;
}

/** The filter by text. It comes last, so that only events that meet all other filters are searched. */
export const textConditions = ({ text }: TimelineFilters, workspaceId: number): Sql[] =>
  text === null
    ? []
    : [
        sql`(
          coalesce(group_id in (
            select id from timeline_groups
            where workspace_id = ${workspaceId} and ${containsText(sql`name_folded`, text)}), false)
          or exists (select 1 from unnest(texts_folded) as part where ${containsText(sql`part`, text)}))`,
      ];
