import { checkNotRevoked, type Subscription } from '../domain/subscription.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import { deactivate } from './change-activity.ts';
import type { SubscriptionCommand, Tools } from './context.ts';

/** Stops new deliveries (contract: Webhooks). Safe to repeat. @throws DomainError `not_found`, `invalid_resource_state` */
export async function pauseSubscription(
  { database, time }: Tools,
  { workspaceId, id }: SubscriptionCommand,
): Promise<Subscription> {
  return database.transaction(async (trx) => {
    const subscription = await subscriptionStore(trx, workspaceId).getForUpdate(id);
    checkNotRevoked(subscription);
    if (subscription.status === 'paused') return subscription;
    return deactivate({ trx, subscription, now: await time(trx) });
  });
}
