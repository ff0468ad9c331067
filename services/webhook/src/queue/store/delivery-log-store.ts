import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { AttemptResult, DeliveryStatus, FailureReason, InternalFailure } from '../domain/delivery.ts';

/** A delivery as operators see it. */
export interface LoggedDelivery {
  id: number;
  workspaceId: number;
  subscriptionId: string;
  /** Scheme and host of the receiver. */
  origin: string;
  eventId: string;
  /** The incident that the event is about. */
  incident: string | null;
  status: DeliveryStatus;
  attempts: number;
  /** Failures inside Tocsin since the latest attempt; they use none. */
  internalFailures: number;
  lastError: FailureReason | InternalFailure | null;
  lastStatus: number | null;
  /** When the event was queued for its first delivery; it is kept for seven days from then. */
  eventQueuedAt: Instant;
  dueAt: Instant;
  deadlineAt: Instant;
  finishedAt: Instant | null;
  /** 0 for the first delivery of the event to the subscription. */
  redelivery: number;
  requestedBy: string | null;
}

/** An attempt that has ended; one that a crash interrupted has no record. */
export interface LoggedAttempt {
  number: number;
  startedAt: Instant;
  /** Milliseconds. */
  duration: number;
  result: AttemptResult;
  status: number | null;
}

export interface DeliveryFilter {
  subscriptionId?: string | undefined;
  status?: DeliveryStatus | undefined;
  limit: number;
}

const SELECT = `
  select d.id, d.workspace_id as "workspaceId", d.subscription_id as "subscriptionId", s.origin, d.event_id as "eventId",
    e.body::json #>> '{resource,reference}' as incident, d.status, d.attempts, d.internal_failures as "internalFailures",
    d.last_error as "lastError", d.last_status as "lastStatus", e.queued_at as "eventQueuedAt", d.due_at as "dueAt",
    d.deadline_at as "deadlineAt", d.finished_at as "finishedAt", d.redelivery, d.requested_by as "requestedBy"
  from deliveries d
  join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
  join subscriptions s on s.workspace_id = d.workspace_id and s.id = d.subscription_id`;

/** Looks the ID up in each workspace, which a loose index scan finds: no index has the IDs of all. */
const FIND_WORKSPACE = `
  with recursive workspaces as (
    (select workspace_id from deliveries order by workspace_id limit 1)
    union all
    select next.workspace_id from workspaces cross join lateral (
      select workspace_id from deliveries where workspace_id > workspaces.workspace_id order by workspace_id limit 1
    ) as next
  )
  select workspaces.workspace_id as "workspaceId" from workspaces cross join lateral (
    select 1 from deliveries where workspace_id = workspaces.workspace_id and id = $1 limit 1
  ) as delivery`;

/** Deliveries and their attempts for operators, over a pool or a transaction. */
export function deliveryLogStore(db: Knex) {
  return {
    /** The deliveries of a workspace, newest first. */
    async list(workspaceId: number, { subscriptionId, status, limit }: DeliveryFilter): Promise<LoggedDelivery[]> {
      return query<LoggedDelivery>(db, {
        text: `${SELECT}
          where d.workspace_id = $1 and ($2::text is null or d.subscription_id = $2) and ($3::text is null or d.status = $3)
          order by d.id desc limit $4`,
        values: [workspaceId, subscriptionId ?? null, status ?? null, limit],
      });
    },

    /** Operators name no workspace. */
    async findWorkspaceOf(id: number): Promise<number | undefined> {
      const [row] = await query<{ workspaceId: number }>(db, { text: FIND_WORKSPACE, values: [id] });
      return row?.workspaceId;
    },

    async find(workspaceId: number, id: number): Promise<LoggedDelivery | undefined> {
      const [delivery] = await query<LoggedDelivery>(db, {
        text: `${SELECT} where d.workspace_id = $1 and d.id = $2`,
        values: [workspaceId, id],
      });
      return delivery;
    },

    /** The attempts of a delivery, oldest first. */
    async attempts({ workspaceId, id }: Pick<LoggedDelivery, 'workspaceId' | 'id'>): Promise<LoggedAttempt[]> {
      return query<LoggedAttempt>(db, {
        text: `select number, started_at as "startedAt", duration, result, status from attempts
          where workspace_id = $1 and delivery_id = $2 order by number`,
        values: [workspaceId, id],
      });
    },

    /** How many deliveries wait for each subscription of a workspace. */
    async waiting(workspaceId: number): Promise<Map<string, number>> {
      const rows = await query<{ id: string; length: number }>(db, {
        text: `select subscription_id as id, count(id) as length from deliveries
          where workspace_id = $1 and status in ('queued', 'held') group by subscription_id`,
        values: [workspaceId],
      });
      return new Map(rows.map(({ id, length }) => [id, length]));
    },

    /** All deliveries of one event to one subscription: the number of the latest redelivery, and whether one waits. */
    async deliveriesOf({
      workspaceId,
      eventId,
      subscriptionId,
    }: Pick<LoggedDelivery, 'workspaceId' | 'eventId' | 'subscriptionId'>): Promise<{
      latest: number;
      isWaiting: boolean;
    }> {
      const [row] = await query<{ latest: number | null; waiting: boolean | null }>(db, {
        text: `select max(redelivery) as latest, bool_or(status in ('queued', 'held')) as waiting from deliveries
          where workspace_id = $1 and event_id = $2 and subscription_id = $3`,
        values: [workspaceId, eventId, subscriptionId],
      });
      return { latest: row?.latest ?? 0, isWaiting: row?.waiting ?? false };
    },

    insert: async (original: LoggedDelivery, added: Redelivery) => insertRedelivery(db, original, added),
  };
}

interface Redelivery {
  redelivery: number;
  requestedBy: string;
  deadlineAt: Instant;
  now: Instant;
}

/** Queues another delivery of the same event to the same subscription; returns its ID. */
async function insertRedelivery(db: Knex, original: LoggedDelivery, added: Redelivery): Promise<number> {
  const [row] = await query<{ id: number }>(db, {
    text: `insert into deliveries (event_id, subscription_id, workspace_id, status, due_at, deadline_at, redelivery,
        requested_by)
      values ($1, $2, $3, 'queued', $4, $5, $6, $7) returning id`,
    values: [
      original.eventId,
      original.subscriptionId,
      original.workspaceId,
      added.now,
      added.deadlineAt,
      added.redelivery,
      added.requestedBy,
    ],
  });
  return (row as { id: number }).id;
}
