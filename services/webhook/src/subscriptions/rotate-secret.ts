import { addMilliseconds } from '@tocsin/runtime';
import { checkNotRevoked, SECRET_OVERLAP, type Subscription } from './domain/subscription.ts';
import { secretStore } from './store/secret-store.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import type { SubscriptionCommand, Dependencies } from '../dependencies.ts';
import { newSecret } from './identifiers.ts';

/**
 * Gives a subscription a new secret. The previous one also signs for 24 hours (contract: Webhooks).
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function rotateSecret(
  { database, time, secretCipher }: Dependencies,
  { workspaceId, id }: SubscriptionCommand,
): Promise<{ subscription: Subscription; secret: string }> {
  return database.transaction(async (trx) => {
    const store = subscriptionStore(trx, workspaceId);
    const current = await store.getForUpdate(id);
    checkNotRevoked(current);
    const now = await time(trx);
    const secret = newSecret();
    const secrets = secretStore(trx, id);
    await secrets.retireCurrent(addMilliseconds(now, SECRET_OVERLAP));
    await secrets.add(secretCipher.encryptSecret(secret, id), now);
    const subscription = { ...current, updatedAt: now };
    await store.update(subscription);
    return { subscription, secret };
  });
}
