import { type Knex, query, type Statement } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import {
  type AttemptResult,
  DEADLINE,
  type InternalFailure,
  MAX_ATTEMPTS,
  type RetryDecision,
} from '../domain/delivery.ts';
import { currentTime } from '../../shared/store/time.ts';

/** An event; `body` is the exact text that is sent. */
interface StoredEvent {
  id: string;
  workspaceId: number;
  body: string;
  requestId: string | null;
  /** As `storableTrace` returns it; the attempts belong to it. */
  trace: string | null;
  occurredAt: Instant;
}

/** An event with the subscriptions that it is delivered to. */
export interface QueuedEvent extends StoredEvent {
  /** `isHeld`: the delivery waits until the subscription is resumed. */
  recipients: readonly { subscriptionId: string; isHeld: boolean }[];
}

/** An attempt that has ended, and what happens to its delivery. */
export interface AttemptRecord {
  number: number;
  decision: RetryDecision;
  result: AttemptResult;
  /** The HTTP status, if response headers arrived. */
  status?: number | undefined;
  /** Milliseconds. */
  duration: number;
}

const QUEUE_LENGTHS = `
  select workspace_id, count(*) as length from deliveries
  where workspace_id = any((select $1::bigint[])::bigint[]) and status in ('queued', 'held') group by workspace_id`;

const QUEUE = `
  with added as (
    insert into events (id, workspace_id, body, request_id, trace_context, occurred_at, queued_at)
    select id, workspace_id, body, request_id, trace_context, occurred_at, $1
    from unnest($3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
      as event (id, workspace_id, body, request_id, trace_context, occurred_at)
  )
  insert into deliveries (event_id, subscription_id, workspace_id, status, due_at, deadline_at)
  select event_id, subscription_id, workspace_id, status, $1, $2
  from unnest($9::uuid[], $10::text[], $11::bigint[], $12::text[])
    as delivery (event_id, subscription_id, workspace_id, status)`;

const NEXT_DUE = `select (select min(due_at) from deliveries where status = 'queued') as due, ${currentTime('$1')} as now`;

/** Reads the first entries of two indexes. */
const EXPIRED = `
  select 1 from (
    (select deadline_at as time from deliveries where status in ('queued', 'held') order by deadline_at limit 1)
    union all
    (select due_at from deliveries where status in ('queued', 'held') and attempts >= ${MAX_ATTEMPTS} order by due_at limit 1)
  ) as first where time <= ${currentTime('$1')}`;

const LOCK_LEASED = `
  select status from deliveries where lease_token = $1 and status in ('queued', 'held') for update`;

const RELEASE = `
  update deliveries set lease_token = null, due_at = $2, attempts = $3
  where lease_token = $1 and status in ('queued', 'held')`;

const COUNT_ATTEMPT = `update deliveries set attempts = $2 where lease_token = $1`;

/** Frees the slot, too, and uncounts the attempt if its request was confirmed. */
const GIVE_BACK = `
  with closed as (delete from slots where token = $1)
  update deliveries set lease_token = null, attempts = $2, internal_failures = $3, last_error = $4, last_status = null,
    due_at = ${currentTime('$5')} + $6::int * interval '1 millisecond'
  where lease_token = $1 and status in ('queued', 'held')`;

/** Ends a lease and keeps the attempt, in one statement. A deferral leaves the error of the request before it. */
const FINISH = `
  with finished as (
    update deliveries set lease_token = null, due_at = coalesce($2, due_at), status = coalesce($3, status),
      finished_at = $4, attempts = $10, failed_attempts = failed_attempts + $5, internal_failures = 0,
      last_error = case when $6 = 'deferred' then last_error when $6 = 'succeeded' then null else $6 end,
      last_status = case when $6 = 'deferred' then last_status else $7 end
    where lease_token = $1 and status in ('queued', 'held')
    returning id, attempts
  )
  insert into attempts (delivery_id, number, started_at, duration, result, status)
  select id, attempts, $8, $9, $6, $7 from finished
  returning delivery_id`;

/** Locked rows are left for the next run: waiting for them could deadlock. */
const fail = (condition: string) => `
  with failed as (
    update deliveries set status = 'failed', lease_token = null, finished_at = $1
    where id in (
      select id from deliveries
      where status in ('queued', 'held') and (lease_token is null or due_at <= $1) and ${condition}
      for update skip locked)
    returning id
  )
  select count(*) as count from failed`;
const FAIL_AFTER_DEADLINE = fail('deadline_at <= $1');
const FAIL_EXHAUSTED = fail(`attempts >= ${MAX_ATTEMPTS} and due_at <= $1`);

/** Events that are deleted at once. */
const BATCH = 1_000;

/** How many deliveries of workspaces wait; those without waiting deliveries are missing. */
export const lengthsStatement = (
  workspaceIds: readonly number[],
): Statement<{ workspace_id: number; length: number }> => ({
  name: 'count-waiting-deliveries',
  text: QUEUE_LENGTHS,
  values: [workspaceIds],
});

/** Which of these events have been queued, and are still kept. */
export const knownStatement = (eventIds: readonly string[]): Statement<{ id: string }> => ({
  name: 'find-queued-events',
  text: 'select id from events where id = any((select $1::uuid[])::uuid[])',
  values: [eventIds],
});

/** Adds events and the deliveries of each. */
export function queueStatement(events: readonly QueuedEvent[], now: Instant): Statement<never> {
  const deliveries = events.flatMap(({ id, workspaceId, recipients }) =>
    recipients.map((recipient) => ({ eventId: id, workspaceId, ...recipient })),
  );
  return {
    name: 'queue-deliveries',
    text: QUEUE,
    values: [
      now,
      addMilliseconds(now, DEADLINE),
      events.map(({ id }) => id),
      events.map(({ workspaceId }) => workspaceId),
      events.map(({ body }) => body),
      events.map(({ requestId }) => requestId),
      events.map(({ trace }) => trace),
      events.map(({ occurredAt }) => occurredAt),
      deliveries.map(({ eventId }) => eventId),
      deliveries.map(({ subscriptionId }) => subscriptionId),
      deliveries.map(({ workspaceId }) => workspaceId),
      deliveries.map(({ isHeld }) => (isHeld ? 'held' : 'queued')),
    ],
  };
}

/** Events and their deliveries, over a pool or a transaction. */
export function deliveryStore(db: Knex) {
  return {
    /** How many deliveries of a workspace wait, including held ones and those in progress. */
    async queueLength(workspaceId: number): Promise<number> {
      const [row] = await query(db, lengthsStatement([workspaceId]));
      return row?.length ?? 0;
    },

    /** Holds the queued deliveries of a paused subscription. Their deadlines do not change. */
    async hold(subscriptionId: string, workspaceId: number): Promise<void> {
      await query(db, {
        name: 'hold-deliveries',
        text: `update deliveries set status = 'held'
          where workspace_id = $1 and subscription_id = $2 and status = 'queued'`,
        values: [workspaceId, subscriptionId],
      });
    },

    /** Queues the held deliveries of a subscription again. */
    async resume(subscriptionId: string, workspaceId: number): Promise<void> {
      await query(db, {
        name: 'resume-deliveries',
        text: `update deliveries set status = 'queued'
          where workspace_id = $1 and subscription_id = $2 and status = 'held'`,
        values: [workspaceId, subscriptionId],
      });
    },

    /** Cancels waiting deliveries and removes their leases, so that attempts in progress record nothing. */
    async cancel(subscriptionId: string, workspaceId: number, now: Instant): Promise<void> {
      await query(db, {
        name: 'cancel-deliveries',
        text: `update deliveries set status = 'cancelled', lease_token = null, finished_at = $3
          where workspace_id = $1 and subscription_id = $2 and status in ('queued', 'held')`,
        values: [workspaceId, subscriptionId, now],
      });
    },

    /**
     * Locks the delivery that is leased with this token, and returns its status; undefined when the lease is lost. It
     * is locked before the row of its host, which others may wait for while they hold a delivery.
     */
    async lockLeased(token: string): Promise<'queued' | 'held' | undefined> {
      const [row] = await query<{ status: 'queued' | 'held' }>(db, {
        name: 'lock-leased',
        text: LOCK_LEASED,
        values: [token],
      });
      return row?.status;
    },

    /** Ends a lease as if the delivery had not been claimed. */
    async release({ token, attempts }: { token: string; attempts: number }, dueAt: Instant): Promise<void> {
      await query(db, { name: 'release-delivery', text: RELEASE, values: [token, dueAt, attempts - 1] });
    },

    /** Counts the attempt of a delivery that this transaction has locked. */
    async countAttempt(token: string, number: number): Promise<void> {
      await query(db, { name: 'count-attempt', text: COUNT_ATTEMPT, values: [token, number] });
    },

    /**
     * Ends a lease after an internal failure and frees its slot, without an attempt. The delivery is due again after
     * `delay` milliseconds.
     */
    async giveBack(
      { token, attempts, internalFailures }: { token: string; attempts: number; internalFailures: number },
      { reason, delay, time }: { reason: InternalFailure; delay: number; time: Instant | null },
    ): Promise<void> {
      const values = [token, attempts - 1, internalFailures + 1, reason, time, delay];
      await query(db, { name: 'give-back-delivery', text: GIVE_BACK, values });
    },

    /** Ends a lease and keeps the attempt. Returns false when the lease was lost. */
    async finish(token: string, attempt: AttemptRecord, now: Instant): Promise<boolean> {
      const { number, decision, result, status = null, duration } = attempt;
      const isRetry = decision.kind === 'retry';
      const isFailure = result !== 'succeeded' && result !== 'deferred';
      const rows = await query(db, {
        name: 'finish-delivery',
        text: FINISH,
        values: [
          token,
          isRetry ? decision.at : null,
          isRetry ? null : decision.kind,
          isRetry ? null : now,
          isFailure ? 1 : 0,
          result,
          status,
          addMilliseconds(now, -duration),
          duration,
          number,
        ],
      });
      return rows.length === 1;
    },

    /** When the next delivery is due, in the past when one is already due, and the time now. */
    async nextDue(time: Instant | null): Promise<{ due: Instant | null; now: Instant }> {
      const [row] = await query<{ due: Instant | null; now: Instant }>(db, {
        name: 'find-next-due',
        text: NEXT_DUE,
        values: [time],
        isPoll: true,
      });
      return row as { due: Instant | null; now: Instant };
    },

    /** Whether `failExpired` may find a delivery; at a time, or now. */
    async mayHaveExpired(time: Instant | null): Promise<boolean> {
      return (await query(db, { name: 'find-expired', text: EXPIRED, values: [time], isPoll: true })).length > 0;
    },

    /** Fails deliveries that are past their deadline or whose last attempt was lost in a crash; returns how many. */
    async failExpired(now: Instant): Promise<{ deadline: number; exhausted: number }> {
      const countOf = async (text: string) => {
        const [row] = await query<{ count: number }>(db, { text, values: [now] });
        return row?.count ?? 0;
      };
      return { deadline: await countOf(FAIL_AFTER_DEADLINE), exhausted: await countOf(FAIL_EXHAUSTED) };
    },

    /** Deletes events that were queued until a time, with their deliveries; returns whether there may be more. */
    async forget(until: Instant): Promise<boolean> {
      const deleted = await query(db, {
        text: `delete from events where id in (select id from events where queued_at <= $1 limit ${BATCH}) returning id`,
        values: [until],
      });
      return deleted.length === BATCH;
    },

    /** How many deliveries wait, by status. */
    async lengths(): Promise<{ queued: number; held: number }> {
      const rows = await query<{ status: string; length: number }>(db, {
        name: 'count-deliveries-by-status',
        text: `select status, count(id) as length from deliveries where status in ('queued', 'held') group by status`,
      });
      const lengthOf = (status: string) => rows.find((row) => row.status === status)?.length ?? 0;
      return { queued: lengthOf('queued'), held: lengthOf('held') };
    },

    /** When the oldest due delivery without a lease became due. */
    async oldestDue(now: Instant): Promise<Instant | undefined> {
      const [row] = await query<{ due: Instant | null }>(db, {
        text: `select min(due_at) as due from deliveries where status = 'queued' and lease_token is null and due_at <= $1`,
        values: [now],
      });
      return row?.due ?? undefined;
    },
  };
}
