import { addMilliseconds } from '@tocsin/runtime';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { destinationText, type ReceiverHeaders } from '../requests/domain/destination.ts';
import { setActive, setPaused } from './change-status.ts';
import { changeSubscription } from './change-subscription.ts';
import { checkResumable, revokedError, SECRET_OVERLAP, type Subscription } from './domain/subscription.ts';
import { newSecret } from './identifiers.ts';
import { activityStore } from './store/activity-store.ts';
import { secretStore } from './store/secret-store.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import type { SubscriptionCommand, SubscriptionDependencies } from './subscription-command.ts';

/**
 * Stops new deliveries (contract: Webhooks). Idempotent.
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export const pauseSubscription = async (dependencies: SubscriptionDependencies, command: SubscriptionCommand) =>
  changeSubscription(dependencies, command, {
    verb: 'paused',
    isStop: true,
    isDone: ({ status }) => status === 'paused',
    needsNumber: true,
    apply: setPaused,
  });

/**
 * Resumes a verified subscription (contract: Webhooks). Idempotent.
 * @throws DomainError `not_found`, `invalid_resource_state`, `service_unavailable`
 */
export const resumeSubscription = async (dependencies: SubscriptionDependencies, command: SubscriptionCommand) =>
  changeSubscription(dependencies, command, {
    verb: 'resumed',
    check: checkResumable,
    isDone: ({ status }) => status === 'active',
    needsNumber: true,
    apply: setActive,
  });

/**
 * Ends a subscription for good: cancels its queued deliveries and deletes its URL and secrets (contract: Webhooks).
 * Idempotent.
 * @throws DomainError `not_found`
 */
export const revokeSubscription = async (dependencies: SubscriptionDependencies, command: SubscriptionCommand) =>
  changeSubscription(dependencies, command, {
    verb: 'revoked',
    isStop: true,
    check: () => undefined,
    isDone: ({ status }) => status === 'revoked',
    apply: async ({ trx, subscription, now }) => {
      const { id, workspaceId } = subscription;
      const ended = { status: 'revoked', verified: false, headerNames: [], updatedAt: now } as const;
      const revoked: Subscription = { ...subscription, ...ended };
      const store = subscriptionStore(trx, workspaceId);
      await store.update(revoked);
      await store.deleteUrl(id);
      await secretStore(trx, subscription).deleteAll();
      await activityStore(trx, subscription).end({ number: undefined, at: now });
      await deliveryStore(trx).cancel(id, workspaceId, now);
      return revoked;
    },
  });

/**
 * Gives a subscription a new secret. The previous one also signs for 24 hours (contract: Webhooks).
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function rotateSecret(
  dependencies: SubscriptionDependencies,
  command: SubscriptionCommand,
): Promise<{ subscription: Subscription; secret: string }> {
  const secret = newSecret();
  const subscription = await changeSubscription(dependencies, command, {
    verb: 'secret_rotated',
    apply: async ({ trx, subscription: current, now }) => {
      const { id, workspaceId } = current;
      const secrets = secretStore(trx, current);
      await secrets.retireCurrent(addMilliseconds(now, SECRET_OVERLAP));
      await secrets.add(dependencies.secretCipher.encryptSecret(secret, id), now);
      const rotated = { ...current, updatedAt: now };
      await subscriptionStore(trx, workspaceId).update(rotated);
      return rotated;
    },
  });
  return { subscription, secret };
}

/**
 * Replaces the headers of the receiver's own, for requests that are sent from now on (contract: Webhooks).
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export const replaceHeaders = async (
  dependencies: SubscriptionDependencies,
  { headers, ...command }: SubscriptionCommand & { headers: ReceiverHeaders },
): Promise<Subscription> =>
  changeSubscription(dependencies, command, {
    verb: 'headers_replaced',
    apply: async ({ trx, subscription: current, now }) => {
      const { secretCipher } = dependencies;
      const { id, workspaceId } = current;
      const store = subscriptionStore(trx, workspaceId);
      const sealed = await store.findUrl(id);
      if (sealed === undefined) throw revokedError();
      const { url } = secretCipher.decryptDestination(sealed, id);
      const replaced = { ...current, headerNames: Object.keys(headers), updatedAt: now };
      await store.update(replaced);
      await store.setUrl(id, secretCipher.encryptUrl(destinationText({ url, headers }), id));
      return replaced;
    },
  });
