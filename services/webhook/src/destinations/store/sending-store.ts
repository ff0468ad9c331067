import { type Knex, query } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import type { AfterCallFailure } from '@tocsin/safe-http';
import { currentTime } from '../../shared/store/time.ts';
import type { FeedPlace } from '../../feed/domain/feed-place.ts';
import type { Destination } from '../domain/destination.ts';
import { type DestinationRow, selection, toDestination } from './destination-store.ts';

/** A destination under a lease. */
export interface ClaimedDestination extends Destination {
  token: string;
  sealed: Sealed;
}

/** Destinations of a workspace that are sent to at once, by all processes. */
const PER_WORKSPACE = 4;
/** Milliseconds that a lease lasts without news of its holder: longer than a request. */
const LEASE = 60_000;

/** Whether a request may take all its time: 0: the latest message arrived; 1: none was sent yet; 2: the latest failed. */
export type Doubt = 0 | 1 | 2;
export const doubtOf = ({ failures, lastSuccessAt }: Pick<Destination, 'failures' | 'lastSuccessAt'>): Doubt =>
  failures > 0 ? 2 : lastSuccessAt === null ? 1 : 0;
const DOUBT = `case when d.failures > 0 then 2 when d.last_success_at is null then 1 else 0 end`;

/** @param condition of the workspaces to look at */
const claimStatement = (condition: string) => `
  with moment as materialized (
    select ${currentTime('$1')} as now
  ), due as (
    select d.workspace_id, d.id, d.due_at, ${DOUBT} as doubt,
      row_number() over (partition by d.workspace_id order by ${DOUBT}, d.due_at, d.id) as nth
    from destinations d
    join feed_workspaces w on w.workspace_id = d.workspace_id and w.position > d.position
    where d.archived_at is null and not d.is_paused and d.due_at <= (select now from moment)
      and (d.lease_until is null or d.lease_until <= (select now from moment))
      and d.host <> all((select $2::text[])::text[]) ${condition}
  ), free as (
    select due.workspace_id, due.id, due.due_at, doubt, nth,
      row_number() over (partition by doubt order by nth, due.due_at, due.id) as nth_of_doubt
    from due
    cross join lateral (
      select count(*) as count from destinations b
      where b.workspace_id = due.workspace_id and b.lease_until > (select now from moment)
    ) as busy
    where nth + busy.count <= ${PER_WORKSPACE}
  ), chosen as (
    select workspace_id, id from free where nth_of_doubt <= (select ($4::int[])[doubt + 1])
    order by doubt, nth, due_at limit $3::int
  ), locked as (
    select d.workspace_id, d.id
    from chosen
    join destinations d on d.workspace_id = chosen.workspace_id and d.id = chosen.id
    for update of d skip locked
  )
  update destinations d
  set lease_token = gen_random_uuid(), lease_until = (select now from moment) + interval '${LEASE} milliseconds'
  from locked
  where d.workspace_id = locked.workspace_id and d.id = locked.id and d.archived_at is null and not d.is_paused
    and (d.lease_until is null or d.lease_until <= (select now from moment))
  returning ${selection('d')}, d.lease_token as token, d.key_id as "keyId", d.ciphertext`;

const CLAIM_OF_ALL = claimStatement('');
const CLAIM = claimStatement('and d.workspace_id = any((select $5::bigint[])::bigint[])');

/**
 * Leases destinations that are behind the feed, one of each workspace in turn, those with less doubt first.
 * Locked rows are left to the process that holds them.
 * @param options.workspaceIds of which alone; null: all
 * @param options.limits how many of each doubt
 */
export async function claimDestinations(
  db: Knex,
  options: {
    workspaceIds: readonly number[] | null;
    blockedHosts: readonly string[];
    limit: number;
    limits: readonly number[];
    time: Instant | null;
  },
): Promise<ClaimedDestination[]> {
  const { workspaceIds, blockedHosts, limit, limits, time } = options;
  const values = [time, blockedHosts, limit, limits];
  const statement =
    workspaceIds === null
      ? { name: 'claim-of-all-destinations', text: CLAIM_OF_ALL, values }
      : { name: 'claim-destinations', text: CLAIM, values: [...values, workspaceIds] };
  const rows = await query<DestinationRow & Sealed & { token: string }>(db, statement);
  return rows.map(({ keyId, ciphertext, ...row }) => ({ ...toDestination(row), sealed: { keyId, ciphertext } }));
}

/** The workspaces with destinations that may be sent to. */
export async function findWorkspaces(db: Knex): Promise<number[]> {
  const rows = await query<{ id: number }>(db, {
    name: 'find-workspaces-with-destinations',
    text: 'select distinct workspace_id as id from destinations where archived_at is null and not is_paused',
  });
  return rows.map(({ id }) => id);
}

type Holder = Pick<ClaimedDestination, 'workspaceId' | 'id' | 'token'>;

/** What whoever holds the lease writes. Each returns whether it still holds it. */
export const leases = (db: Knex) => {
  const write = async (
    { workspaceId, id, token }: Holder,
    { name, set, values }: { name: string; set: string; values: readonly unknown[] },
  ): Promise<boolean> => {
    const rows = await query(db, {
      name,
      text: `update destinations set ${set} where workspace_id = $1 and id = $2 and lease_token = $3 returning id`,
      values: [workspaceId, id, token, ...values],
    });
    return rows.length > 0;
  };
  return {
    /** Moves it behind what was sent, or is for others, and renews the lease. */
    advance: async (
      holder: Holder,
      {
        place,
        isSuccess,
        leftOut,
        time,
      }: { place: FeedPlace; isSuccess: boolean; leftOut: number; time: Instant | null },
    ): Promise<boolean> =>
      write(holder, {
        name: 'advance-destination',
        set: `position = $4, mark = $5, left_out = left_out + $6,
          failures = case when $7::boolean then 0 else failures end,
          failing_since = case when $7::boolean then null else failing_since end,
          last_success_at = case when $7::boolean then ${currentTime('$8')} else last_success_at end,
          lease_until = ${currentTime('$8')} + interval '${LEASE} milliseconds'`,
        values: [place.position, place.mark, leftOut, isSuccess, time],
      }),

    /** Ends the lease; nothing is sent for so many milliseconds. */
    release: async (holder: Holder, pause: number, time: Instant | null): Promise<boolean> =>
      write(holder, {
        name: 'release-destination',
        set: `lease_token = null, lease_until = null, due_at = ${currentTime('$5')} + $4 * interval '1 millisecond'`,
        values: [pause, time],
      }),

    /** Ends the lease after a failure. */
    fail: async (holder: Holder, { failures, failingSince, lastFailure, dueAt }: AfterCallFailure): Promise<boolean> =>
      write(holder, {
        name: 'fail-destination',
        set: `lease_token = null, lease_until = null, failures = $4, failing_since = $5, last_failure = $6,
          last_status = $7, last_failure_at = $8, due_at = $9`,
        values: [failures, failingSince, lastFailure.reason, lastFailure.status, lastFailure.at, dueAt],
      }),
  };
};

/** How many destinations are in each state that those who operate should see. */
export async function countFailing(db: Knex): Promise<number> {
  const [row] = await query<{ count: number }>(db, {
    name: 'count-failing-destinations',
    text: `select count(*) as count from destinations
      where archived_at is null and not is_paused and failing_since is not null`,
  });
  return row?.count ?? 0;
}
