import type { Knex } from '@tocsin/runtime';
import { SUGGESTION } from '../domain/timeline-event.ts';
import type { TimelineFilters } from '../domain/timeline-filters.ts';

/** An SQL condition on an event, with its bound values. */
export interface Condition {
  sql: string;
  values: readonly Knex.RawBinding[];
}

export const condition = (sql: string, ...values: Knex.RawBinding[]): Condition => ({ sql, values });

export function timeConditions({ startedFrom, startedTo }: TimelineFilters): Condition[] {
  return [
    ...(startedFrom === null ? [] : [condition('started_at >= ?', startedFrom)]),
    ...(startedTo === null ? [] : [condition('started_at < ?', startedTo)]),
  ];
}

/** All filters except those by time. */
export function contentConditions(filters: TimelineFilters, workspaceId: number): Condition[] {
  const { typeOrSource, tags, keyOnly, groups, ungrouped, text, suggestions } = filters;
  return [
    ...(typeOrSource === null ? [] : [hasTypeOrSource(typeOrSource)]),
    ...(tags.length === 0 ? [] : [condition('tags_folded && ?::text[]', [...tags])]),
    ...(keyOnly ? [condition('is_key')] : []),
    ...(groups.length === 0 && !ungrouped
      ? []
      : [condition(`(group_id = any(?::bigint[])${ungrouped ? ' or group_id is null' : ''})`, [...groups])]),
    ...(text === null ? [] : [containsText(text, workspaceId)]),
    ...(suggestions === 'include'
      ? []
      : [condition(`type_folded ${suggestions === 'only' ? '=' : '<>'} ?`, SUGGESTION)]),
  ];
}

function hasTypeOrSource(value: string): Condition {
  if (value !== 'ai') return condition('(type_folded = ? or source_folded = ?)', value, value);
  return condition(`(source_folded in ('ai', 'ai_investigation', 'investigation')
    or (type_folded = 'investigation' and source_folded = 'manual'))`);
}

/** Uses `position` and not `like`, because the searched text has no wildcards. */
function containsText(text: string, workspaceId: number): Condition {
  return condition(
    `(exists (select 1 from unnest(texts_folded) as part where position(? in part) > 0)
      or group_id in (select id from timeline_groups where workspace_id = ? and position(? in name_folded) > 0))`,
    text,
    workspaceId,
    text,
  );
}

/** Joins conditions with `and`. */
export function allOf(conditions: readonly Condition[]): Condition {
  return conditions.length === 0
    ? condition('true')
    : condition(conditions.map(({ sql }) => sql).join(' and '), ...conditions.flatMap(({ values }) => values));
}

export const applyCondition = (query: Knex.QueryBuilder, { sql, values }: Condition) =>
  query.whereRaw(sql, [...values]);
