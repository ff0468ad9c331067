import type { Subscription } from '../domain/subscription.ts';
import { activityStore } from '../store/activity-store.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { secretStore } from '../store/secret-store.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import type { SubscriptionCommand, Tools } from './context.ts';

/** Ends a subscription for good, its queue and its secrets with it (contract: Webhooks). Safe to repeat. @throws DomainError `not_found` */
export async function revokeSubscription(
  { database, time }: Tools,
  { workspaceId, id }: SubscriptionCommand,
): Promise<Subscription> {
  return database.transaction(async (trx) => {
    const store = subscriptionStore(trx, workspaceId);
    const subscription = await store.getForUpdate(id);
    if (subscription.status === 'revoked') return subscription;
    const now = await time(trx);
    const revoked: Subscription = { ...subscription, status: 'revoked', verified: false, updatedAt: now };
    await store.update(revoked);
    await store.forgetUrl(id);
    await secretStore(trx, id).forgetAll();
    await activityStore(trx, id).end(now);
    await deliveryStore(trx).cancel(id, workspaceId, now);
    return revoked;
  });
}
