import type { Instant, Knex } from '@tocsin/runtime';
import type { AttemptResult, DeliveryStatus, FailureReason } from '../domain/delivery.ts';

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
  lastError: FailureReason | null;
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
      .select<LoggedDelivery[]>({
        id: 'd.id',
        workspaceId: 'd.workspace_id',
        subscriptionId: 'd.subscription_id',
        origin: 's.origin',
        eventId: 'd.event_id',
        incident: db.raw(`e.body::json #>> '{resource,reference}'`),
        status: 'd.status',
        attempts: 'd.attempts',
        lastError: 'd.last_error',
        lastStatus: 'd.last_status',
        eventQueuedAt: 'e.queued_at',
        dueAt: 'd.due_at',
        deadlineAt: 'd.deadline_at',
        finishedAt: 'd.finished_at',
        redelivery: 'd.redelivery',
        requestedBy: 'd.requested_by',
      });
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
      return db('attempts').where({ delivery_id: deliveryId }).orderBy('number').select<LoggedAttempt[]>({
        number: 'number',
        startedAt: 'started_at',
        duration: 'duration',
        result: 'result',
        status: 'status',
      });
    },

    /** How many deliveries wait for each subscription of a workspace. */
    async waiting(workspaceId: number): Promise<Map<string, number>> {
      const rows = await db('deliveries')
        .where({ workspace_id: workspaceId })
        .whereIn('status', ['queued', 'held'])
        .groupBy('subscription_id')
        .select<{ id: string; length: number }[]>({ id: 'subscription_id', length: db.raw('count(id)') });
      return new Map(rows.map(({ id, length }) => [id, length]));
    },

    /** All deliveries of one event to one subscription: the number of the latest redelivery, and whether one waits. */
    async deliveriesOf({
      eventId,
      subscriptionId,
    }: Pick<LoggedDelivery, 'eventId' | 'subscriptionId'>): Promise<{ latest: number; isWaiting: boolean }> {
      const row = await db('deliveries')
        .where({ event_id: eventId, subscription_id: subscriptionId })
        .first<{ latest: number; waiting: boolean }>({
          latest: db.raw('max(redelivery)'),
          waiting: db.raw(`bool_or(status in ('queued', 'held'))`),
        });
      return { latest: row.latest, isWaiting: row.waiting };
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
