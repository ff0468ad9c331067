import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type Sql, sql, statementOf } from '../../shared/store/sql.ts';
import { statusConditions } from './filters.ts';
import { matching } from './matching.ts';
import type { PrefilteredQuery } from './prefilter.ts';

/** How many incidents of one severity were created in a bucket. */
export interface BucketCount {
  /** The place of the bucket, from 1. */
  bucket: number;
  severity: string;
  incidents: number;
}

/** The durations of the incidents of one service or team, or of all, in seconds. */
export interface DurationRow {
  kind: 'service' | 'team' | 'all';
  /** Null unless the row is of a service; empty: no service. */
  service: string | null;
  /** Null unless the row is of a team, and for incidents without one. */
  teamId: number | null;
  /** How many incidents have a time to response, and of how many the first act of a person stands for a recorded one. */
  responses: number;
  derivedResponses: number;
  /** Their median, 90th percentile and mean; null: there are none. */
  response: [number, number, number] | null;
  /** The same for the time to recovery, where the change into a terminal status stands for a recorded one. */
  recoveries: number;
  derivedRecoveries: number;
  recovery: [number, number, number] | null;
}

/** How many incidents are measured: to sort the durations of all would take too long in a large workspace. */
export const MAX_MEASURED = 10_000;
/** Of the services and of the teams. */
export const MAX_GROUPS = 100;

/** @param starts the starts of the buckets; no incident was created before the first one */
export async function countByBucket(
  db: Knex,
  prefiltered: PrefilteredQuery,
  starts: readonly Instant[],
): Promise<BucketCount[]> {
  const columns = { created_at: sql`i.created_at`, severity: sql`i.severity` };
  const incidents = matching(prefiltered, { columns, conditions: statusConditions(prefiltered.query) });
  return query(
    db,
    statementOf(sql`select width_bucket(created_at, ${starts}::timestamptz[]) as bucket, severity, count(*) as incidents
      from (${incidents}) as incident group by 1, 2`),
  );
}

/** The durations of the latest incidents by service, by team and of all; those with the most incidents first. */
export async function readDurations(db: Knex, prefiltered: PrefilteredQuery): Promise<DurationRow[]> {
  const incidents = matching(prefiltered, {
    columns: {
      created_at: sql`i.created_at`,
      service: sql`i.service`,
      team_id: sql`i.team_id`,
      response: secondsTo(sql`coalesce(i.first_responded_at, i.first_acted_at)`),
      recovery: secondsTo(sql`coalesce(i.recovered_at, i.ended_at)`),
      no_response: sql`i.first_responded_at is null`,
      no_recovery: sql`i.recovered_at is null`,
    },
    conditions: [
      ...statusConditions(prefiltered.query),
      // Word for word the condition of the index.
      sql`(i.first_responded_at is not null or i.first_acted_at is not null
        or i.recovered_at is not null or i.ended_at is not null)`,
    ],
  });
  return query(
    db,
    statementOf(sql`
      with latest as (
        select service, team_id, response, recovery, no_response, no_recovery from (${incidents}) as incident
        order by created_at desc limit ${MAX_MEASURED}),
      duration as (
        select case grouping(service, team_id) when 1 then 'service' when 2 then 'team' else 'all' end as kind,
          service, team_id, count(*) as incidents,
          count(response) as responses, count(response) filter (where no_response) as derived_responses,
          ${averagesOf(sql`response`)} as response,
          count(recovery) as recoveries, count(recovery) filter (where no_recovery) as derived_recoveries,
          ${averagesOf(sql`recovery`)} as recovery
        from latest group by grouping sets ((service), (team_id), ())),
      ranked as (
        select kind, service, team_id, responses, derived_responses, response, recoveries, derived_recoveries, recovery,
          row_number() over (partition by kind order by incidents desc, service, team_id) as place
        from duration)
      select kind, service, team_id as "teamId", responses, derived_responses as "derivedResponses", response,
        recoveries, derived_recoveries as "derivedRecoveries", recovery
      from ranked where place <= ${MAX_GROUPS} order by place`),
  );
}

/** From the anchor of an incident's duration to a moment. */
const secondsTo = (end: Sql): Sql => sql`case when ${end} is not null then
  greatest(date_part('epoch', ${end} - coalesce(i.impact_started_at, i.first_reported_at, i.created_at)), 0) end`;

const averagesOf = (seconds: Sql): Sql =>
  sql`case when count(${seconds}) > 0
    then percentile_disc(array[0.5, 0.9]) within group (order by ${seconds}) || avg(${seconds}) end`;
