import { checkNotRevoked, checkResumable, type Subscription } from './domain/subscription.ts';
import { activityStore } from './store/activity-store.ts';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { secretStore } from './store/secret-store.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import { findLastIncidentNumber, setActive, setPaused } from './change-status.ts';
import type { Dependencies, SubscriptionCommand } from '../dependencies.ts';
import { recordSubscriptionChange } from './record-subscription-change.ts';

/**
 * Stops new deliveries (contract: Webhooks). Idempotent.
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function pauseSubscription(
  dependencies: Dependencies,
  { id, ...change }: SubscriptionCommand,
): Promise<Subscription> {
  const { database, time, wakeRelay } = dependencies;
  const workspaceId = change.workspace.id;
  const lastIncidentNumber = await findLastIncidentNumber(dependencies, workspaceId);
  const result = await database.transaction(async (trx) => {
    const subscription = await subscriptionStore(trx, workspaceId).getForUpdate(id);
    checkNotRevoked(subscription);
    if (subscription.status === 'paused') return subscription;
    const paused = await setPaused({ trx, subscription, lastIncidentNumber, now: await time(trx) });
    await recordSubscriptionChange(trx, change, { verb: 'paused', before: subscription, after: paused });
    return paused;
  });
  wakeRelay();
  return result;
}

/**
 * Resumes a verified subscription (contract: Webhooks). Idempotent.
 * @throws DomainError `not_found`, `invalid_resource_state`, `service_unavailable`
 */
export async function resumeSubscription(
  dependencies: Dependencies,
  { id, ...change }: SubscriptionCommand,
): Promise<Subscription> {
  const { database, time, wakeDispatcher, wakeRelay } = dependencies;
  const workspaceId = change.workspace.id;
  const lastIncidentNumber = await findLastIncidentNumber(dependencies, workspaceId);
  const result = await database.transaction(async (trx) => {
    const subscription = await subscriptionStore(trx, workspaceId).getForUpdate(id);
    checkResumable(subscription);
    if (subscription.status === 'active') return subscription;
    const resumed = await setActive({ trx, subscription, lastIncidentNumber, now: await time(trx) });
    await recordSubscriptionChange(trx, change, { verb: 'resumed', before: subscription, after: resumed });
    return resumed;
  });
  wakeDispatcher();
  wakeRelay();
  return result;
}

/**
 * Ends a subscription for good: cancels its queued deliveries and deletes its URL and secrets (contract: Webhooks).
 * Idempotent.
 * @throws DomainError `not_found`
 */
export async function revokeSubscription(
  { database, time, wakeRelay }: Dependencies,
  { id, ...change }: SubscriptionCommand,
): Promise<Subscription> {
  const workspaceId = change.workspace.id;
  const result = await database.transaction(async (trx) => {
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
    await recordSubscriptionChange(trx, change, { verb: 'revoked', before: subscription, after: revoked });
    return revoked;
  });
  wakeRelay();
  return result;
}
