import type { Instant, Knex } from '@tocsin/runtime';
import type { Subscription } from '../domain/subscription.ts';
import { activityStore } from '../store/activity-store.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { subscriptionStore } from '../store/subscription-store.ts';

interface Change {
  trx: Knex.Transaction;
  /** Locked by the transaction. */
  subscription: Subscription;
  now: Instant;
}

/** From `now` on events are for it again, and what was held goes on. */
export async function activate({ trx, subscription, now }: Change): Promise<Subscription> {
  const { id, workspaceId } = subscription;
  const active: Subscription = { ...subscription, status: 'active', updatedAt: now };
  await subscriptionStore(trx, workspaceId).update(active);
  await activityStore(trx, id).begin(now);
  await deliveryStore(trx).letGo(id, workspaceId);
  return active;
}

/** From `now` on events are not for it, and what is queued is held. */
export async function deactivate({ trx, subscription, now }: Change): Promise<Subscription> {
  const { id, workspaceId } = subscription;
  const paused: Subscription = { ...subscription, status: 'paused', updatedAt: now };
  await subscriptionStore(trx, workspaceId).update(paused);
  await activityStore(trx, id).end(now);
  await deliveryStore(trx).hold(id, workspaceId);
  return paused;
}
