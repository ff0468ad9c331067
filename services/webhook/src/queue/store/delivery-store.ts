import { type Knex, query, type Statement } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { DEADLINE } from '../domain/delivery.ts';
import { INCIDENT_OF_EVENT } from '../../shared/store/incident-of-event.ts';
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
  insert into deliveries (event_id, subscription_id, workspace_id, status, restricted, due_at, deadline_at)
  select event_id, subscription_id, workspace_id, status, restricted, $1, $2
  from unnest($9::uuid[], $10::text[], $11::bigint[], $12::text[], $14::boolean[])
    as delivery (event_id, subscription_id, workspace_id, status, restricted)`;

/** What waits for a webhook that must not get the event. */
const IS_CANCELLED = `d.status in ('queued', 'held') and not s.include_restricted`;
const RESTRICT = `
  with restricted as (
    update events set restricted = true where workspace_id = $1 and ${INCIDENT_OF_EVENT} = $2 returning id
  )
  update deliveries d set restricted = true,
    status = case when ${IS_CANCELLED} then 'cancelled' else d.status end,
    lease_token = case when ${IS_CANCELLED} then null else d.lease_token end,
    finished_at = case when ${IS_CANCELLED} then $3 else d.finished_at end
  from restricted, subscriptions s
  where d.workspace_id = $1 and d.event_id = restricted.id
    and s.workspace_id = $1 and s.id = d.subscription_id`;

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
  const deliveries = events.flatMap(({ id, workspaceId, isRestricted, recipients }) =>
    recipients.map((recipient) => ({ eventId: id, workspaceId, isRestricted, ...recipient })),
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
      deliveries.map(({ isRestricted }) => isRestricted),
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

    /** Makes the events about an incident restricted, and cancels what waits for receivers that must not get them. */
    async restrict({ workspaceId, resource }: { workspaceId: number; resource: string }, now: Instant): Promise<void> {
      await query(db, { text: RESTRICT, values: [workspaceId, resource.replace(/^incident:/, ''), now] });
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
