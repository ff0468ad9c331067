import type { Knex } from '@tocsin/runtime';
import { SUGGESTION } from '../domain/timeline-event.ts';
import type { TimelineFilters } from '../domain/timeline-filters.ts';

/** A piece of SQL that is true or false of an event, with its values. */
export interface Condition {
  sql: string;
  values: readonly Knex.RawBinding[];
}

export const condition = (sql: string, ...values: Knex.RawBinding[]): Condition => ({ sql, values });

export function timeBounds({ startedFrom, startedTo }: TimelineFilters): Condition[] {
  return [
    ...(startedFrom === null ? [] : [condition('started_at >= ?', startedFrom)]),
    ...(startedTo === null ? [] : [condition('started_at < ?', startedTo)]),
  ];
}

/** All filters but those by time. */
export function choices(filters: TimelineFilters, workspaceId: number): Condition[] {
  const { typeOrSource, tags, keyOnly, groups, ungrouped, text, suggestions } = filters;
  return [
    ...(typeOrSource === null ? [] : [ofTypeOrSource(typeOrSource)]),
    ...(tags.length === 0 ? [] : [condition('tags_folded && ?::text[]', [...tags])]),
    ...(keyOnly ? [condition('is_key')] : []),
    ...(groups.length === 0 && !ungrouped
      ? []
      : [condition(`(group_id = any(?::bigint[])${ungrouped ? ' or group_id is null' : ''})`, [...groups])]),
    ...(text === null ? [] : [holdingText(text, workspaceId)]),
    ...(suggestions === 'include'
      ? []
      : [condition(`type_folded ${suggestions === 'only' ? '=' : '<>'} ?`, SUGGESTION)]),
  ];
}

function ofTypeOrSource(value: string): Condition {
  if (value !== 'ai') return condition('(type_folded = ? or source_folded = ?)', value, value);
  return condition(`(source_folded in ('ai', 'ai_investigation', 'investigation')
    or (type_folded = 'investigation' and source_folded = 'manual'))`);
}

/** `position` and not `like`: what is searched for is text, with nothing special in it. */
function holdingText(text: string, workspaceId: number): Condition {
  return condition(
    `(exists (select 1 from unnest(texts_folded) as part where position(? in part) > 0)
      or group_id in (select id from timeline_groups where workspace_id = ? and position(? in name_folded) > 0))`,
    text,
    workspaceId,
    text,
  );
}

/** The conjunction of conditions. */
export function all(conditions: readonly Condition[]): Condition {
  return conditions.length === 0
    ? condition('true')
    : condition(conditions.map(({ sql }) => sql).join(' and '), ...conditions.flatMap(({ values }) => values));
}

export const where = (query: Knex.QueryBuilder, { sql, values }: Condition) => query.whereRaw(sql, [...values]);
