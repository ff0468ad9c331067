import { invalidState, notFound } from '@tocsin/http';
import { type Change, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds } from '@tocsin/runtime';
import { DEADLINE, type DeliveryLimits, MAX_REDELIVERIES } from '../queue/domain/delivery.ts';
import { deliveryLogStore, type LoggedDelivery } from '../queue/store/delivery-log-store.ts';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { lockWorkspaces, subscriptionStore } from '../subscriptions/store/subscription-store.ts';
import type { Time } from '../shared/store/time.ts';

export interface Redelivery {
  workspaceId: number;
  deliveryId: number;
  /** The ID of the user, or the name of the operator, who asks for it. */
  requestedBy: string;
  /** Whether those who ask may know of restricted incidents; operators may. */
  seesRestricted: boolean;
  /** Who changes what, for the audit log; operators are logged. */
  change?: Change;
}

/** @throws DomainError `not_found`, also for one that the caller must not know of */
export async function getDelivery(
  db: Knex,
  { workspaceId, deliveryId, seesRestricted }: Pick<Redelivery, 'workspaceId' | 'deliveryId' | 'seesRestricted'>,
): Promise<LoggedDelivery> {
  const delivery = await deliveryLogStore(db).find(workspaceId, deliveryId);
  if (delivery === undefined || (delivery.isRestricted && !seesRestricted))
    throw notFound(`The delivery ${deliveryId}`);
  return delivery;
}

/**
 * Queues a further delivery of the same event to the same subscription, with attempts and a deadline of its own
 * (contract: Deliveries). The receiver gets the same event ID and body; the limits of requests apply as ever.
 * @throws DomainError `not_found`, or `invalid_resource_state` when the delivery waits already, the subscription is not
 *   active or must not get the incident, the workspace's queue is full or there were too many redeliveries
 */
export async function redeliver(
  { database, time, limits }: { database: Knex; time: Time; limits: DeliveryLimits },
  redelivery: Redelivery,
): Promise<LoggedDelivery> {
  const { workspaceId, deliveryId, requestedBy, change } = redelivery;
  return database.transaction(async (trx) => {
    const log = deliveryLogStore(trx);
    const { subscriptionId } = await getDelivery(trx, redelivery);
    // Locked in the order in which an event is queued: the subscription, then the workspace's queue.
    const { status, includeRestricted } = await subscriptionStore(trx, workspaceId).getForUpdate(subscriptionId);
    await lockWorkspaces(trx, [workspaceId]);
    // Read again: the incident may have become restricted before the subscription was locked, or been deleted.
    const original = await getDelivery(trx, redelivery);
    if (!(await log.keepEvent(original))) throw notFound(`The delivery ${deliveryId}`);
    if (change?.workspace.is_demo === true) throw invalidState('A demo workspace sends no webhooks');
    if (status !== 'active') throw invalidState(`The webhook ${subscriptionId} is ${status}, not active`);
    if (original.isRestricted && !includeRestricted)
      throw invalidState(`The webhook ${subscriptionId} gets no restricted incidents`);
    const { latest, isWaiting } = await log.deliveriesOf(original);
    if (isWaiting) throw invalidState(`The event ${original.eventId} waits for its delivery already`);
    if (latest >= MAX_REDELIVERIES)
      throw invalidState(`The event ${original.eventId} was delivered again ${latest} times, which is the limit`);
    if ((await deliveryStore(trx).queueLength(workspaceId)) >= limits.maxQueued)
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
    // Those who read the audit log may not know of the incident.
    if (change !== undefined && !original.isRestricted)
      await recordChange(trx, change, {
        action: 'webhook.redelivered',
        target: { type: 'webhook', id: subscriptionId },
        before: null,
        after: { delivery_id: id, event_id: original.eventId },
        now,
      });
    return getDelivery(trx, { ...redelivery, deliveryId: id });
  });
}
