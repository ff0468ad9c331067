import { checkNotRevoked, checkResumable, type Subscription } from './domain/subscription.ts';
import { activityStore } from './store/activity-store.ts';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { secretStore } from './store/secret-store.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import { findLastIncidentNumber, setActive, setPaused } from './change-status.ts';
import type { Dependencies, SubscriptionCommand } from '../dependencies.ts';

/**
 * Stops new deliveries (contract: Webhooks). Idempotent.
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function pauseSubscription(
  dependencies: Dependencies,
  { workspaceId, id }: SubscriptionCommand,
): Promise<Subscription> {
  const { database, time } = dependencies;
  const lastIncidentNumber = await findLastIncidentNumber(dependencies, workspaceId);
  return database.transaction(async (trx) => {
    const subscription = await subscriptionStore(trx, workspaceId).getForUpdate(id);
    checkNotRevoked(subscription);
    if (subscription.status === 'paused') return subscription;
    return setPaused({ trx, subscription, lastIncidentNumber, now: await time(trx) });
  });
}

/**
 * Resumes a verified subscription (contract: Webhooks). Idempotent.
 * @throws DomainError `not_found`, `invalid_resource_state`, `service_unavailable`
 */
export async function resumeSubscription(
  dependencies: Dependencies,
  { workspaceId, id }: SubscriptionCommand,
): Promise<Subscription> {
  const { database, time, wakeDispatcher } = dependencies;
  const lastIncidentNumber = await findLastIncidentNumber(dependencies, workspaceId);
  const resumed = await database.transaction(async (trx) => {
    const subscription = await subscriptionStore(trx, workspaceId).getForUpdate(id);
    checkResumable(subscription);
    if (subscription.status === 'active') return subscription;
    return setActive({ trx, subscription, lastIncidentNumber, now: await time(trx) });
  });
  wakeDispatcher();
  return resumed;
}

/**
 * Ends a subscription for good: cancels its queued deliveries and deletes its URL and secrets (contract: Webhooks).
 * Idempotent.
 * @throws DomainError `not_found`
 */
export async function revokeSubscription(
  { database, time }: Dependencies,
  { workspaceId, id }: SubscriptionCommand,
): Promise<Subscription> {
  return database.transaction(async (trx) => {
    const store = subscriptionStore(trx, workspaceId);
    const subscription = await store.getForUpdate(id);
    if (subscription.status === 'revoked') return subscription;
    const now = await time(trx);
    const revoked: Subscription = { ...subscription, status: 'revoked', verified: false, updatedAt: now };
    await store.update(revoked);
    await store.deleteUrl(id);
    await secretStore(trx, id).deleteAll();
    await activityStore(trx, id).end({ number: undefined, at: now });
    await deliveryStore(trx).cancel(id, workspaceId, now);
    return revoked;
  });
}
