import type { Instant, Knex } from '@tocsin/runtime';
import type { TimelineFilters } from '../domain/timeline-filters.ts';
import { attachmentsOf } from './attachment-store.ts';
import { incidentStore } from './incident-store.ts';
import { all, choices, condition, type Condition, timeBounds, where } from './timeline-conditions.ts';
import { TIMELINE_COLUMNS, type TimelineRow, toTimelineEvent } from './timeline-row.ts';

/** What stands beside a page of a timeline. */
export interface TimelineCounts {
  /** By the time bounds alone. */
  allEvents: number;
  types: Record<string, number>;
  sources: Record<string, number>;
  tags: Record<string, number>;
  /** By all filters. */
  matched: number;
}

/** A place in the order of timelines. */
export interface TimelinePosition {
  startedAt: Instant;
  id: number;
}

export interface TimelineRead {
  workspaceId: number;
  incidentId: number;
  filters: TimelineFilters;
  limit: number;
  /** The place that the events come after, in the order asked for. */
  after: TimelinePosition | undefined;
}

/**
 * Some of an incident's timeline, and its counts; from one snapshot, so that they agree.
 * @throws DomainError `not_found`
 */
export async function readTimeline(database: Knex, read: TimelineRead) {
  return database.transaction(
    async (trx) => {
      const { lastEventAt } = await incidentStore(trx, read.workspaceId).get(read.incidentId);
      const predicate = all(choices(read.filters, read.workspaceId));
      const bounded = () =>
        where(
          trx('timeline_events'),
          all([condition('incident_id = ?', read.incidentId), ...timeBounds(read.filters)]),
        );
      const events = await list(where(bounded(), predicate), read);
      return {
        events,
        counts: await count({ trx, bounded, predicate }),
        attachments: await attachmentsOf(
          trx,
          events.map(({ id }) => id),
        ),
        latestStartedAt: lastEventAt,
      };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

async function list(query: Knex.QueryBuilder, { filters: { order }, limit, after }: TimelineRead) {
  if (after !== undefined) {
    void query.whereRaw(`(started_at, id) ${order === 'asc' ? '>' : '<'} (?::timestamptz, ?::bigint)`, [
      after.startedAt,
      after.id,
    ]);
  }
  const rows = await query
    .select<TimelineRow[]>(TIMELINE_COLUMNS)
    .orderBy([
      { column: 'started_at', order },
      { column: 'id', order },
    ])
    .limit(limit);
  return rows.map(toTimelineEvent);
}

interface Count {
  key: string;
  events: number;
}

async function count(options: {
  trx: Knex.Transaction;
  bounded: () => Knex.QueryBuilder;
  predicate: Condition;
}): Promise<TimelineCounts> {
  const { trx, bounded, predicate } = options;
  const rows = await bounded()
    .select<(Count & { by: 'type' | 'source' | 'all'; matched: number })[]>(
      trx.raw(`case grouping(type, source) when 1 then 'type' when 2 then 'source' else 'all' end as by`),
      trx.raw(`coalesce(type, source, '') as key`),
      trx.raw('count(*) as events'),
      trx.raw(`count(*) filter (where ${predicate.sql}) as matched`, predicate.values),
    )
    .groupByRaw('grouping sets ((), (type), (source))');
  const tags = await bounded()
    .joinRaw('cross join unnest(tags) as tag')
    .select<Count[]>('tag as key', trx.raw('count(*) as events'))
    .groupBy('tag');
  // From entries, and not by assignment: a type may be called `__proto__`.
  const byKey = (counts: readonly Count[]) => Object.fromEntries(counts.map(({ key, events }) => [key, events]));
  const total = rows.find(({ by }) => by === 'all');
  return {
    allEvents: total?.events ?? 0,
    types: byKey(rows.filter(({ by }) => by === 'type')),
    sources: byKey(rows.filter(({ by }) => by === 'source')),
    tags: byKey(tags),
    matched: total?.matched ?? 0,
  };
}
