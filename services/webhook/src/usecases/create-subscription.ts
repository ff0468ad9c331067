import { wrongState } from '@tocsin/http';
import { readReceiverUrl } from '../domain/receiver-url.ts';
import { EVENT_TYPES, MAX_SUBSCRIPTIONS, type Subscription, type WebhookEventType } from '../domain/subscription.ts';
import { secretStore } from '../store/secret-store.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import { lockWorkspace } from '../store/workspace-lock.ts';
import type { Tools } from './context.ts';
import { newSecret, newSubscriptionId } from './identifiers.ts';

export interface CreateCommand {
  workspaceId: number;
  url: string;
  eventTypes: readonly WebhookEventType[] | undefined;
}

/**
 * Subscribes a receiver: paused, until its verification (contract: Webhooks).
 * @returns the secret too; it is never shown again
 * @throws DomainError `invalid_request` for a URL that will not do, `invalid_resource_state` at the limit
 */
export async function createSubscription(
  { database, time, vault, testReceivers }: Tools,
  { workspaceId, url, eventTypes }: CreateCommand,
): Promise<{ subscription: Subscription; secret: string }> {
  const { href, origin, host } = readReceiverUrl(url, testReceivers);
  const id = newSubscriptionId();
  const secret = newSecret();
  return database.transaction(async (trx) => {
    await lockWorkspace(trx, workspaceId);
    const store = subscriptionStore(trx, workspaceId);
    if ((await store.countLive()) >= MAX_SUBSCRIPTIONS) {
      throw wrongState(`The workspace has ${MAX_SUBSCRIPTIONS} webhooks; revoke one first`);
    }
    const now = await time(trx);
    const subscription: Subscription = {
      id,
      workspaceId,
      origin,
      host,
      eventTypes: eventTypes ?? EVENT_TYPES,
      status: 'paused',
      verified: false,
      consecutiveFailures: 0,
      createdAt: now,
      updatedAt: now,
      lastSuccessAt: null,
      lastFailureAt: null,
    };
    await store.insert(subscription, vault.sealUrl(href, id));
    await secretStore(trx, id).add(vault.sealSecret(secret, id), now);
    return { subscription, secret };
  });
}
