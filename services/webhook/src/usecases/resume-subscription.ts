import { checkResumable, type Subscription } from '../domain/subscription.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import { activate } from './change-activity.ts';
import type { SubscriptionCommand, Tools } from './context.ts';

/** Takes a verified subscription up again (contract: Webhooks). Safe to repeat. @throws DomainError `not_found`, `invalid_resource_state` */
export async function resumeSubscription(
  { database, time, wakeDispatcher }: Tools,
  { workspaceId, id }: SubscriptionCommand,
): Promise<Subscription> {
  const resumed = await database.transaction(async (trx) => {
    const subscription = await subscriptionStore(trx, workspaceId).getForUpdate(id);
    checkResumable(subscription);
    if (subscription.status === 'active') return subscription;
    return activate({ trx, subscription, now: await time(trx) });
  });
  wakeDispatcher();
  return resumed;
}
