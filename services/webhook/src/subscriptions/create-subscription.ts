/**
 * `subscriptions` is who receives events, where and with which secrets (contract: Webhooks). URL, headers and secrets
 * are encrypted, each for its subscription, and `rotate-encryption.ts` moves them to the current key. A create takes
 * the lock of its workspace, so that the limits of subscriptions are exact; each other change locks the subscription
 * (`change-subscription.ts`), and commits with its entry in the audit log. A new subscription is paused until its
 * receiver has answered a signed request (`verify-subscription.ts`), which is sent outside of any transaction. Numbers
 * of incidents decide what it receives: a change of status asks the incident service for the latest one, before any row
 * is locked; without an answer nothing becomes active, and a pause goes by the clock (ADR 16). A revocation cancels
 * what waits, and deletes URL and secrets.
 */
import { invalidState } from '@tocsin/http';
import type { Change } from '@tocsin/messaging';
import type { AllowedDestinations } from '@tocsin/safe-http';
import { destinationText, type ReceiverHeaders } from '../requests/domain/destination.ts';
import { readReceiverUrl } from './domain/receiver-url.ts';
import {
  EVENT_TYPES,
  MAX_CREATED_AN_HOUR,
  MAX_SUBSCRIPTIONS,
  type Subscription,
  type WebhookEventType,
} from './domain/subscription.ts';
import { secretStore } from './store/secret-store.ts';
import { lockWorkspaces, subscriptionStore } from './store/subscription-store.ts';
import { checkCreationRate } from '../shared/domain/creation-rate.ts';
import { newSecret, newSubscriptionId } from './identifiers.ts';
import type { SubscriptionDependencies } from './subscription-command.ts';
import { recordSubscriptionChange } from './change-subscription.ts';

export interface CreateCommand extends Change {
  url: string;
  name: string | null;
  eventTypes: readonly WebhookEventType[] | undefined;
  /** Default: none. */
  headers?: ReceiverHeaders;
  /** Default: false. */
  includeRestricted?: boolean;
  /** Default: a new one. */
  id?: string;
}

/**
 * Creates a subscription, which is paused until it is verified (contract: Webhooks).
 * @returns the secret too, which cannot be read again
 * @throws DomainError `invalid_request` for an unsuitable URL, `invalid_resource_state` when the workspace has too many,
 *   `rate_limited` when it has created too many within an hour
 */
export async function createSubscription(
  dependencies: Omit<SubscriptionDependencies, 'incidents' | 'wakeDispatcher' | 'log'> & {
    allowed: AllowedDestinations;
  },
  {
    url,
    name,
    eventTypes,
    headers = {},
    includeRestricted = false,
    id = newSubscriptionId(),
    ...change
  }: CreateCommand,
): Promise<{ subscription: Subscription; secret: string }> {
  const { database, time, secretCipher, allowed, wakeRelay } = dependencies;
  const workspaceId = change.workspace.id;
  const { href, origin, host } = readReceiverUrl(url, allowed);
  const secret = newSecret();
  const created = await database.transaction(async (trx) => {
    await lockWorkspaces(trx, [workspaceId]);
    const store = subscriptionStore(trx, workspaceId);
    if ((await store.countUnrevoked()) >= MAX_SUBSCRIPTIONS) {
      throw invalidState(`The workspace has ${MAX_SUBSCRIPTIONS} webhooks; revoke one first`);
    }
    const now = await time(trx);
    const rate = { what: 'webhooks', most: MAX_CREATED_AN_HOUR } as const;
    checkCreationRate(rate, await store.createdAt(rate.most), now);
    const subscription: Subscription = {
      id,
      workspaceId,
      name,
      origin,
      host,
      eventTypes: eventTypes ?? EVENT_TYPES,
      headerNames: Object.keys(headers),
      includeRestricted,
      status: 'paused',
      verified: false,
      consecutiveFailures: 0,
      createdAt: now,
      updatedAt: now,
      lastSuccessAt: null,
      lastFailureAt: null,
    };
    await store.insert(subscription, secretCipher.encryptUrl(destinationText({ url: href, headers }), id));
    await secretStore(trx, subscription).add(secretCipher.encryptSecret(secret, id), now);
    await recordSubscriptionChange(trx, change, { verb: 'created', before: null, after: subscription });
    return { subscription, secret };
  });
  wakeRelay();
  return created;
}
