import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import {
  type AttemptResult,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type FailureReason,
  type InternalFailure,
} from '../domain/delivery.ts';

/** A delivery as those see it who look after webhooks. */
export interface LoggedDelivery {
  id: number;
  workspaceId: number;
  subscriptionId: string;
  /** Scheme and host of the receiver. */
  origin: string;
  eventId: string;
  eventType: string;
  /** The incident that the event is about. */
  incident: string | null;
  /** Whether only those may know of it who see restricted incidents. */
  isRestricted: boolean;
  status: DeliveryStatus;
  attempts: number;
  /** Failures inside Tocsin since the latest attempt; they use none. */
  internalFailures: number;
  lastError: FailureReason | InternalFailure | null;
  lastStatus: number | null;
  /** When the event was queued for its first delivery; it is kept for seven days from then. */
  eventQueuedAt: Instant;
  queuedAt: Instant;
  dueAt: Instant;
  deadlineAt: Instant;
  finishedAt: Instant | null;
  /** 0 for the first delivery of the event to the subscription. */
  redelivery: number;
  /** The ID of a user, or the name of an operator, which has an `@`. */
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
  answer: string | null;
}

export interface DeliveryFilter {
  subscriptionId?: string | undefined;
  status?: DeliveryStatus | undefined;
  eventId?: string | undefined;
}

export interface DeliveryQuery extends DeliveryFilter {
  /** Whether deliveries of restricted incidents are there, too. */
  seesRestricted: boolean;
  /** Only deliveries with lower IDs; default: all. */
  before?: number | undefined;
  limit: number;
}

const NAMES = [
  ...['id', 'workspace_id', 'subscription_id', 'event_id', 'status', 'attempts', 'internal_failures', 'last_error'],
  ...['last_status', 'queued_at', 'due_at', 'deadline_at', 'finished_at', 'redelivery', 'requested_by'],
];
const namesIn = (row: string) => NAMES.map((name) => `${row}.${name}`).join(', ');

/** @param from what has the deliveries, with these columns */
const selectFrom = (from: string) => `
  select d.id, d.workspace_id as "workspaceId", d.subscription_id as "subscriptionId", s.origin, d.event_id as "eventId",
    e.body::json ->> 'type' as "eventType", e.body::json #>> '{resource,reference}' as incident,
    e.restricted as "isRestricted", coalesce(d.queued_at, e.queued_at) as "queuedAt", d.status, d.attempts, d.internal_failures as "internalFailures",
    d.last_error as "lastError", d.last_status as "lastStatus", e.queued_at as "eventQueuedAt", d.due_at as "dueAt",
    d.deadline_at as "deadlineAt", d.finished_at as "finishedAt", d.redelivery, d.requested_by as "requestedBy"
  from ${from} d
  join events e on e.workspace_id = d.workspace_id and e.id = d.event_id
  join subscriptions s on s.workspace_id = d.workspace_id and s.id = d.subscription_id`;

/** As a look-up for each delivery: a join might read all events of a workspace. */
const NOT_RESTRICTED = `not (select e.restricted from events e where e.workspace_id = d.workspace_id and e.id = d.event_id)`;

/** One walk along an index for each status, among the deliveries that are restricted, and among the others. */
const walk = (condition: string) => `
  select ${namesIn('walk')} from unnest((select $2::text[])) as wanted (status)
  cross join unnest((select $3::boolean[])) as visible (restricted)
  cross join lateral (
    select ${namesIn('d')} from deliveries d
    where d.workspace_id = $1 and d.status = wanted.status and d.restricted = visible.restricted and d.id < $4${condition}
    order by d.id desc limit $5
  ) as walk`;

/** An event has few deliveries. */
const ofEvent = (condition: string) => `
  select ${namesIn('d')} from deliveries d
  where d.workspace_id = $1 and d.status = any((select $2::text[])::text[])
    and d.restricted = any((select $3::boolean[])::boolean[]) and d.id < $4${condition}`;

/** The deliveries of a workspace that a query selects, newest first. */
async function listDeliveries(
  db: Knex,
  workspaceId: number,
  { subscriptionId, status, eventId, seesRestricted, before = Number.MAX_SAFE_INTEGER, limit }: DeliveryQuery,
): Promise<LoggedDelivery[]> {
  const statuses = status === undefined ? DELIVERY_STATUSES : [status];
  const values: unknown[] = [workspaceId, statuses, seesRestricted ? [false, true] : [false], before, limit];
  const is = (column: string, value: unknown) =>
    value === undefined ? '' : ` and d.${column} = $${values.push(value)}`;
  const condition =
    is('subscription_id', subscriptionId) + is('event_id', eventId) + (seesRestricted ? '' : ` and ${NOT_RESTRICTED}`);
  return query<LoggedDelivery>(db, {
    text: `with page as (${(eventId === undefined ? walk : ofEvent)(condition)} order by id desc limit $5)
      ${selectFrom('page')} order by d.id desc`,
    values,
  });
}

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
    list: async (workspaceId: number, selection: DeliveryQuery) => listDeliveries(db, workspaceId, selection),

    /** Operators name no workspace. */
    async findWorkspaceOf(id: number): Promise<number | undefined> {
      const [row] = await query<{ workspaceId: number }>(db, { text: FIND_WORKSPACE, values: [id] });
      return row?.workspaceId;
    },

    async find(workspaceId: number, id: number): Promise<LoggedDelivery | undefined> {
      const [delivery] = await query<LoggedDelivery>(db, {
        text: `${selectFrom('deliveries')} where d.workspace_id = $1 and d.id = $2`,
        values: [workspaceId, id],
      });
      return delivery;
    },

    /** The exact text of an event that is sent; undefined if the event is deleted. */
    async findBody({ workspaceId, eventId }: Pick<LoggedDelivery, 'workspaceId' | 'eventId'>) {
      const [event] = await query<{ body: string }>(db, {
        text: 'select body from events where workspace_id = $1 and id = $2',
        values: [workspaceId, eventId],
      });
      return event?.body;
    },

    /** Keeps the event of a delivery until the transaction ends; returns false if it is deleted. */
    async keepEvent({ workspaceId, eventId }: Pick<LoggedDelivery, 'workspaceId' | 'eventId'>): Promise<boolean> {
      const rows = await query(db, {
        text: 'select id from events where workspace_id = $1 and id = $2 for key share',
        values: [workspaceId, eventId],
      });
      return rows.length > 0;
    },

    /** The attempts of a delivery, oldest first. */
    async attempts({ workspaceId, id }: Pick<LoggedDelivery, 'workspaceId' | 'id'>): Promise<LoggedAttempt[]> {
      return query<LoggedAttempt>(db, {
        text: `select number, started_at as "startedAt", duration, result, status, answer from attempts
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
    text: `insert into deliveries (event_id, subscription_id, workspace_id, status, due_at, queued_at, deadline_at,
        redelivery, requested_by, restricted)
      values ($1, $2, $3, 'queued', $4, $4, $5, $6, $7, $8) returning id`,
    values: [
      original.eventId,
      original.subscriptionId,
      original.workspaceId,
      added.now,
      added.deadlineAt,
      added.redelivery,
      added.requestedBy,
      original.isRestricted,
    ],
  });
  return (row as { id: number }).id;
}
