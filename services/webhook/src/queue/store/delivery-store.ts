import { type Knex, query, type Statement } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { DEADLINE } from '../domain/delivery.ts';
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
  /** Whether it is about a restricted incident. */
  isRestricted: boolean;
}

/** An event with the subscriptions that it is delivered to. */
export interface QueuedEvent extends StoredEvent {
  /** `isHeld`: the delivery waits until the subscription is resumed. */
  recipients: readonly { subscriptionId: string; isHeld: boolean }[];
}

const QUEUE_LENGTHS = `
  select workspace_id, count(*) as length from deliveries
  where workspace_id = any((select $1::bigint[])::bigint[]) and status in ('queued', 'held') group by workspace_id`;

const QUEUE = `
  with added as (
    insert into events (id, workspace_id, body, request_id, trace_context, occurred_at, restricted, queued_at)
    select id, workspace_id, body, request_id, trace_context, occurred_at, restricted, $1
    from unnest($3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $13::boolean[])
      as event (id, workspace_id, body, request_id, trace_context, occurred_at, restricted)
  )
  insert into deliveries (event_id, subscription_id, workspace_id, status, due_at, deadline_at)
  select event_id, subscription_id, workspace_id, status, $1, $2
  from unnest($9::uuid[], $10::text[], $11::bigint[], $12::text[])
    as delivery (event_id, subscription_id, workspace_id, status)`;

/** A workspace has few waiting deliveries, and no index tells what their events are about. */
const RESTRICT = `
  with waiting as (
    select distinct event_id from deliveries where workspace_id = $1 and status in ('queued', 'held')
  ), restricted as (
    update events e set restricted = true from waiting
    where e.workspace_id = $1 and e.id = waiting.event_id
      and concat_ws(':', e.body::json #>> '{resource,type}', e.body::json #>> '{resource,id}') = $2
    returning e.id
  )
  update deliveries set status = 'cancelled', lease_token = null, finished_at = $3
  from restricted, subscriptions s
  where deliveries.workspace_id = $1 and deliveries.event_id = restricted.id and deliveries.status in ('queued', 'held')
    and s.workspace_id = $1 and s.id = deliveries.subscription_id and not s.include_restricted`;

const NEXT_DUE = `select (select min(due_at) from deliveries where status = 'queued') as due, ${currentTime('$1')} as now`;

/** How many deliveries of workspaces wait; those without waiting deliveries are missing. */
export const lengthsStatement = (
  workspaceIds: readonly number[],
): Statement<{ workspace_id: number; length: number }> => ({
  name: 'count-waiting-deliveries',
  text: QUEUE_LENGTHS,
  values: [workspaceIds],
});

/** Which of these events have been queued, and are still kept. */
export const knownStatement = (
  events: readonly Pick<StoredEvent, 'id' | 'workspaceId'>[],
): Statement<{ id: string }> => ({
  name: 'find-queued-events',
  text: `select events.id from unnest((select $1::bigint[]), (select $2::uuid[])) as event (workspace_id, id)
    join events on events.workspace_id = event.workspace_id and events.id = event.id`,
  values: [events.map(({ workspaceId }) => workspaceId), events.map(({ id }) => id)],
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
      events.map(({ isRestricted }) => isRestricted),
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

    /** Makes the waiting events about a resource restricted, and cancels those that their receivers must not get. */
    async restrict({ workspaceId, resource }: { workspaceId: number; resource: string }, now: Instant): Promise<void> {
      await query(db, { text: RESTRICT, values: [workspaceId, resource, now] });
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
