import type { Knex } from '@tocsin/postgres';
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

/** Deliveries and their attempts for operators, over a pool or a transaction. */
export function deliveryLogStore(db: Knex) {
  const logged = () =>
    db('deliveries as d')
      .join('events as e', 'e.id', 'd.event_id')
      .join('subscriptions as s', 's.id', 'd.subscription_id')
      .select<LoggedDelivery[]>(
        'd.id as id',
        'd.workspace_id as workspaceId',
        'd.subscription_id as subscriptionId',
        's.origin as origin',
        'd.event_id as eventId',
        db.raw(`e.body::json #>> '{resource,reference}' as incident`),
        'd.status as status',
        'd.attempts as attempts',
        'd.internal_failures as internalFailures',
        'd.last_error as lastError',
        'd.last_status as lastStatus',
        'e.queued_at as eventQueuedAt',
        'd.due_at as dueAt',
        'd.deadline_at as deadlineAt',
        'd.finished_at as finishedAt',
        'd.redelivery as redelivery',
        'd.requested_by as requestedBy',
      );
  return {
    /** The deliveries of a workspace, newest first. */
    async list(workspaceId: number, { subscriptionId, status, limit }: DeliveryFilter): Promise<LoggedDelivery[]> {
      return logged()
        .where({ 'd.workspace_id': workspaceId })
        .where(
          Object.fromEntries(
            Object.entries({ 'd.subscription_id': subscriptionId, 'd.status': status }).filter(
              ([, value]) => value !== undefined,
            ),
          ),
        )
        .orderBy('d.id', 'desc')
        .limit(limit);
    },

    async find(id: number): Promise<LoggedDelivery | undefined> {
      const [delivery] = await logged().where({ 'd.id': id });
      return delivery;
    },

    /** The attempts of a delivery, oldest first. */
    async attempts(deliveryId: number): Promise<LoggedAttempt[]> {
      return db('attempts')
        .where({ delivery_id: deliveryId })
        .orderBy('number')
        .select<LoggedAttempt[]>('number', 'started_at as startedAt', 'duration', 'result', 'status');
    },

    /** How many deliveries wait for each subscription of a workspace. */
    async waiting(workspaceId: number): Promise<Map<string, number>> {
      const rows = await db('deliveries')
        .where({ workspace_id: workspaceId })
        .whereIn('status', ['queued', 'held'])
        .groupBy('subscription_id')
        .select<{ id: string; length: number }[]>('subscription_id as id', db.raw('count(id) as length'));
      return new Map(rows.map(({ id, length }) => [id, length]));
    },

    /** All deliveries of one event to one subscription: the number of the latest redelivery, and whether one waits. */
    async deliveriesOf({
      eventId,
      subscriptionId,
    }: Pick<LoggedDelivery, 'eventId' | 'subscriptionId'>): Promise<{ latest: number; isWaiting: boolean }> {
      const [row] = await db('deliveries')
        .where({ event_id: eventId, subscription_id: subscriptionId })
        .select<{ latest: number | null; waiting: boolean | null }[]>(
          db.raw('max(redelivery) as latest'),
          db.raw(`bool_or(status in ('queued', 'held')) as waiting`),
        );
      return { latest: row?.latest ?? 0, isWaiting: row?.waiting ?? false };
    },

    /** Queues another delivery of the same event to the same subscription; returns its ID. */
    async insert(
      original: LoggedDelivery,
      added: { redelivery: number; requestedBy: string; deadlineAt: Instant; now: Instant },
    ): Promise<number> {
      const [row] = await db('deliveries')
        .insert({
          event_id: original.eventId,
          subscription_id: original.subscriptionId,
          workspace_id: original.workspaceId,
          status: 'queued',
          due_at: added.now,
          deadline_at: added.deadlineAt,
          redelivery: added.redelivery,
          requested_by: added.requestedBy,
        })
        .returning<{ id: number }[]>('id');
      return (row as { id: number }).id;
    },
  };
}
