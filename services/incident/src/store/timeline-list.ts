import { MAX_PAGE_BYTES } from '@tocsin/http';
import { type Listed, type ListedRow, readWhole } from '@tocsin/resources';
import type { Instant, Knex } from '@tocsin/runtime';
import type { TimelineEvent } from '../domain/timeline-event.ts';
import type { TimelineFilters } from '../domain/timeline-filters.ts';
import { attachmentsOf } from './attachment-store.ts';
import { incidentStore } from './incident-store.ts';
import {
  allOf,
  contentConditions,
  condition,
  type Condition,
  timeConditions,
  applyCondition,
} from './timeline-conditions.ts';
import {
  LISTED_TIMELINE_COLUMNS,
  TIMELINE_COLUMNS,
  type TimelineRow,
  toListedEvent,
  toTimelineEvent,
} from './timeline-row.ts';

/** A page counts the events of at most so many types and sources, and of so many tags (contract: Timeline). */
const MAX_COUNTED = 1_000;

/** The counts beside a page of a timeline. */
export interface TimelineCounts {
  /** Events within the time bounds, regardless of other filters. */
  allEvents: number;
  types: Record<string, number>;
  sources: Record<string, number>;
  tags: Record<string, number>;
  /** Events that match all filters. */
  matched: number;
}

/** A position in the order of timelines. */
export interface TimelinePosition {
  startedAt: Instant;
  id: number;
}

export interface TimelineQuery {
  workspaceId: number;
  incidentId: number;
  filters: TimelineFilters;
  limit: number;
  /** The position after which the page begins, in the requested order. */
  after: TimelinePosition | undefined;
}

/**
 * Returns a page of an incident's timeline and its counts, from one snapshot so that they agree. Of the listed events,
 * it reads as many completely as a page can show.
 * @throws DomainError `not_found`
 */
export async function readTimeline(database: Knex, query: TimelineQuery) {
  return database.transaction(
    async (trx) => {
      const { lastEventAt } = await incidentStore(trx, query.workspaceId).get(query.incidentId);
      const predicate = allOf(contentConditions(query.filters, query.workspaceId));
      const bounded = () =>
        applyCondition(
          trx('timeline_events'),
          allOf([condition('incident_id = ?', query.incidentId), ...timeConditions(query.filters)]),
        );
      const listed = await list(trx, applyCondition(bounded(), predicate), query);
      const events = await readEvents(trx, listed);
      return {
        listed,
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

async function list(
  trx: Knex.Transaction,
  query: Knex.QueryBuilder,
  { filters: { order }, limit, after }: TimelineQuery,
): Promise<Listed<TimelineEvent>[]> {
  if (after !== undefined) {
    void query.whereRaw(`(started_at, id) ${order === 'asc' ? '>' : '<'} (?::timestamptz, ?::bigint)`, [
      after.startedAt,
      after.id,
    ]);
  }
  const rows = await query
    .select<ListedRow<TimelineRow>[]>(trx.raw(LISTED_TIMELINE_COLUMNS))
    .orderBy([
      { column: 'started_at', order },
      { column: 'id', order },
    ])
    .limit(limit);
  return rows.map(toListedEvent);
}

/** JSON is never shorter than the text in it, so no page needs more of these texts. */
async function readEvents(trx: Knex, listed: readonly Listed<TimelineEvent>[]): Promise<TimelineEvent[]> {
  const events: TimelineEvent[] = [];
  let bytes = 0;
  const whole = readWhole(listed, async (ids) => {
    const rows = await trx('timeline_events').whereIn('id', ids).select<TimelineRow[]>(TIMELINE_COLUMNS);
    return rows.map(toTimelineEvent);
  });
  for await (const event of whole) {
    if (event === undefined) throw new Error('a snapshot lost an event');
    events.push(event);
    bytes += Buffer.byteLength(event.body);
    if (bytes > MAX_PAGE_BYTES) break;
  }
  return events;
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
    .groupByRaw('grouping sets ((), (type), (source))')
    // The total comes first, and then the sources, which are few.
    .orderByRaw(`grouping(type, source) desc, events desc, coalesce(type, source) collate "C"`)
    .limit(MAX_COUNTED + 1);
  const tags = await bounded()
    .joinRaw('cross join unnest(tags) as tag')
    .select<Count[]>('tag as key', trx.raw('count(*) as events'))
    .groupBy('tag')
    .orderByRaw(`events desc, tag collate "C"`)
    .limit(MAX_COUNTED);
  // Not by assignment, because a type may be `__proto__`.
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
