import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import type { AfterCallFailure, CallFailure } from '@tocsin/safe-http';
import type { TicketState } from '../../follow-ups/domain/ticket.ts';
import type { MadeTicket, Tracker } from '../domain/tracker.ts';
import { selection, toTracker, type TrackerRow } from './tracker-store.ts';

/** A ticket under a lease, and its tracker. */
export interface ClaimedTicket {
  workspaceId: number;
  followUpId: number;
  marker: string;
  attemptedAt: Instant | null;
  key: string | null;
  state: TicketState | null;
  agreedAt: Instant | null;
  token: string;
  tracker: Tracker;
  sealed: Sealed;
}

/** Milliseconds that a lease lasts: longer than all requests of a run. */
const LEASE = 60_000;
/** Tickets of a workspace, and of a tracker, that are compared at once, by all processes. */
const PER_WORKSPACE = 8;
const PER_TRACKER = 2;

const USABLE = 't.archived_at is null and not t.is_paused';

/** The one ticket of a tracker that is due first. */
const NEXT = `
  select min(greatest(t.due_at, k.due_at)) as due
  from trackers t
  cross join lateral (
    select due_at from follow_up_tickets
    where workspace_id = t.workspace_id and tracker_id = t.id and due_at is not null order by due_at limit 1
  ) k
  where ${USABLE}`;

const CLAIM = `
  with due as (
    select t.workspace_id, k.follow_up_id, k.due_at, t.failures > 0 as is_retry,
      row_number() over (partition by t.workspace_id order by t.failures > 0, k.due_at, k.follow_up_id) as nth
    from trackers t
    cross join lateral (
      select follow_up_id, due_at from follow_up_tickets
      where workspace_id = t.workspace_id and tracker_id = t.id and due_at <= $1
        and (lease_until is null or lease_until <= $1)
      order by due_at limit greatest(0, case when t.failures > 0 then 1 else ${PER_TRACKER} end - (
        select count(*) from follow_up_tickets b
        where b.workspace_id = t.workspace_id and b.tracker_id = t.id and b.lease_until > $1))
    ) k
    where ${USABLE} and t.due_at <= $1
  ), free as (
    select due.workspace_id, due.follow_up_id, due.due_at, is_retry, nth,
      row_number() over (partition by is_retry order by nth, due.due_at, due.follow_up_id) as nth_of_all
    from due
    cross join lateral (
      select count(*) as count from follow_up_tickets b
      where b.workspace_id = due.workspace_id and b.lease_until > $1
    ) as busy
    where nth + busy.count <= ${PER_WORKSPACE}
  ), chosen as (
    select workspace_id, follow_up_id from free where not is_retry or nth_of_all <= $3::int
    order by is_retry, nth, due_at limit $2::int
  ), locked as (
    select k.workspace_id, k.follow_up_id
    from chosen
    join follow_up_tickets k on k.workspace_id = chosen.workspace_id and k.follow_up_id = chosen.follow_up_id
    for update of k skip locked
  )
  update follow_up_tickets k
  set lease_token = gen_random_uuid(), lease_until = $1::timestamptz + interval '${LEASE} milliseconds',
    due_at = $1::timestamptz + interval '${LEASE} milliseconds'
  from locked
  join trackers t on t.workspace_id = locked.workspace_id
  where k.workspace_id = locked.workspace_id and k.follow_up_id = locked.follow_up_id and t.id = k.tracker_id
    and ${USABLE} and k.due_at <= $1 and (k.lease_until is null or k.lease_until <= $1)
  returning ${selection('t')}, t.key_id as "keyId", t.ciphertext, k.follow_up_id as "followUpId", k.marker,
    k.attempted_at as "attemptedAt", k.key, k.state, k.agreed_at as "agreedAt", k.lease_token as token`;

type ClaimedRow = TrackerRow & Sealed & Omit<ClaimedTicket, 'tracker' | 'sealed' | 'workspaceId'>;

/** When the next ticket is due; undefined: none is. */
export async function nextDue(db: Knex): Promise<Instant | undefined> {
  const [row] = await query<{ due: Instant | null }>(db, { name: 'next-due-ticket', text: NEXT });
  return row?.due ?? undefined;
}

/**
 * Leases tickets that are due, one of each workspace in turn. Until the lease ends, they are due at its end: a change or a
 * webhook meanwhile makes them due before, which `end` keeps.
 * @param options.retries how many of trackers that have failed
 */
export async function claimTickets(
  db: Knex,
  { now, limit, retries }: { now: Instant; limit: number; retries: number },
): Promise<ClaimedTicket[]> {
  const rows = await query<ClaimedRow>(db, { name: 'claim-tickets', text: CLAIM, values: [now, limit, retries] });
  return rows.map(({ keyId, ciphertext, followUpId, marker, attemptedAt, key, state, agreedAt, token, ...row }) => ({
    ...{ workspaceId: row.workspaceId, followUpId, marker, attemptedAt, key, state, agreedAt, token },
    ...{ tracker: toTracker(row), sealed: { keyId, ciphertext } },
  }));
}

type Holder = Pick<ClaimedTicket, 'workspaceId' | 'followUpId' | 'token'>;

const HELD = 'workspace_id = $1 and follow_up_id = $2 and lease_token = $3';
const ENDED = `lease_token = null, lease_until = null, due_at = case when due_at = lease_until then $4 else due_at end`;

/** Both sides agree; returns since when, if the lease is still held. It stays. */
export const agreement = (
  { workspaceId, followUpId, token }: Holder,
  state: TicketState,
  now: Instant,
): Statement<{ agreedAt: Instant }> => ({
  name: 'agree-ticket',
  text: `update follow_up_tickets set state = $4, agreed_at = case when state = $4 then agreed_at else $5 end,
    failure = null, failure_status = null, failed_at = null where ${HELD} returning agreed_at as "agreedAt"`,
  values: [workspaceId, followUpId, token, state, now],
});

/** What whoever holds the lease of a ticket writes. Each returns whether it still holds it. */
export function ticketLease(db: Knex, holder: Holder) {
  const held = [holder.workspaceId, holder.followUpId, holder.token];
  const write = async (name: string, set: string, values: readonly unknown[]): Promise<boolean> => {
    const text = `update follow_up_tickets set ${set} where ${HELD} returning follow_up_id`;
    return (await query(db, { name, text, values: [...held, ...values] })).length > 0;
  };
  return {
    isHeld: async (): Promise<boolean> =>
      (
        await query(db, {
          name: 'is-ticket-held',
          text: `select follow_up_id from follow_up_tickets where ${HELD}`,
          values: held,
        })
      ).length > 0,

    /** From now on, the tracker may have the ticket. */
    attempt: async (now: Instant) => write('attempt-ticket', 'attempted_at = coalesce(attempted_at, $4)', [now]),

    /** The tracker has made it, open. */
    link: async ({ key, url }: MadeTicket, now: Instant) =>
      write('link-ticket', `status = 'linked', key = $4, url = $5, state = 'open', agreed_at = $6`, [key, url, now]),

    /** Ends the lease. @param dueAt when it is compared again, unless it is due already; null: not by itself */
    end: async (dueAt: Instant | null) => write('end-ticket-lease', ENDED, [dueAt]),

    /** Ends the lease after a failure. @param isFinal whether a ticket that does not exist stays so */
    fail: async (
      { reason, status, at }: CallFailure,
      { dueAt, isFinal }: { dueAt: Instant | null; isFinal: boolean },
    ) =>
      write(
        'fail-ticket',
        `${ENDED}, failure = $5, failure_status = $6, failed_at = $7,
          status = case when $8::boolean and key is null then 'failed' else status end`,
        [dueAt, reason, status, at, isFinal],
      ),
  };
}

type Of = Pick<Tracker, 'workspaceId' | 'id' | 'revision'>;

/** What is known of a tracker that was asked. A change of its settings has said something newer. */
export function trackerHealth(db: Knex, { workspaceId, id, revision }: Of) {
  const held = [workspaceId, id, revision];
  const where = 'workspace_id = $1 and id = $2 and revision = $3';
  return {
    /** It was written within the last minute, or is. */
    succeeded: async (now: Instant): Promise<void> => {
      await query(db, {
        name: 'tracker-succeeded',
        text: `update trackers set failures = 0, failing_since = null, last_success_at = $4 where ${where}
          and (failures > 0 or last_success_at is null or last_success_at < $4::timestamptz - interval '1 minute')`,
        values: [...held, now],
      });
    },

    failed: async ({ failures, failingSince, lastFailure, dueAt }: AfterCallFailure): Promise<void> => {
      const { reason, status, at } = lastFailure;
      await query(db, {
        name: 'tracker-failed',
        text: `update trackers set failures = $4, failing_since = $5, last_failure = $6, last_status = $7,
          last_failure_at = $8, due_at = $9 where ${where}`,
        values: [...held, failures, failingSince, reason, status, at, dueAt],
      });
    },
  };
}

/** How many trackers those who operate should look at. */
export async function countFailing(db: Knex): Promise<number> {
  const [row] = await query<{ count: number }>(db, {
    name: 'count-failing-trackers',
    text: `select count(*) as count from trackers
      where archived_at is null and not is_paused and failing_since is not null`,
  });
  return row?.count ?? 0;
}
