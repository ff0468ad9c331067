import { invalidState, notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds } from '@tocsin/runtime';
import { DEADLINE, type DeliveryLimits, MAX_REDELIVERIES } from '../queue/domain/delivery.ts';
import { deliveryLogStore, type LoggedDelivery } from '../queue/store/delivery-log-store.ts';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { lockWorkspaces, subscriptionStore } from '../subscriptions/store/subscription-store.ts';
import type { Time } from '../shared/store/time.ts';

export interface Redelivery {
  deliveryId: number;
  /** The operator who asks for it. */
  requestedBy: string;
}

/** @throws DomainError `not_found` */
export async function getDelivery(db: Knex, id: number): Promise<LoggedDelivery> {
  const log = deliveryLogStore(db);
  const workspaceId = await log.findWorkspaceOf(id);
  const delivery = workspaceId === undefined ? undefined : await log.find(workspaceId, id);
  if (delivery === undefined) throw notFound(`The delivery ${id}`);
  return delivery;
}

/**
 * Queues a further delivery of the same event to the same subscription, with attempts and a deadline of its own
 * (contract: Deliveries). The receiver gets the same event ID and body; the limits of requests apply as ever.
 * @throws DomainError `not_found`, or `invalid_resource_state` when the delivery waits already, the subscription is not
 *   active, the workspace's queue is full or there were too many redeliveries
 */
export async function redeliver(
  { database, time, limits }: { database: Knex; time: Time; limits: DeliveryLimits },
  { deliveryId, requestedBy }: Redelivery,
): Promise<LoggedDelivery> {
  return database.transaction(async (trx) => {
    const log = deliveryLogStore(trx);
    const original = await getDelivery(trx, deliveryId);
    // Locked in the order in which an event is queued: the subscription, then the workspace's queue.
    const { status } = await subscriptionStore(trx, original.workspaceId).getForUpdate(original.subscriptionId);
    if (status !== 'active') throw invalidState(`The webhook ${original.subscriptionId} is ${status}, not active`);
    await lockWorkspaces(trx, [original.workspaceId]);
    const { latest, isWaiting } = await log.deliveriesOf(original);
    if (isWaiting) throw invalidState(`The event ${original.eventId} waits for its delivery already`);
    if (latest >= MAX_REDELIVERIES)
      throw invalidState(`The event ${original.eventId} was delivered again ${latest} times, which is the limit`);
    if ((await deliveryStore(trx).queueLength(original.workspaceId)) >= limits.maxQueued)
      throw invalidState(`The queue of the workspace is full: ${limits.maxQueued} deliveries wait`);
    const now = await time(trx);
    const deadline = addMilliseconds(now, DEADLINE);
    const keptUntil = addMilliseconds(original.eventQueuedAt, limits.retention);
    if (keptUntil <= now) throw notFound(`The delivery ${deliveryId}`);
    const id = await log.insert(original, {
      redelivery: latest + 1,
      requestedBy,
      // The event is deleted then, with its deliveries.
      deadlineAt: deadline < keptUntil ? deadline : keptUntil,
      now,
    });
    return getDelivery(trx, id);
  });
}
