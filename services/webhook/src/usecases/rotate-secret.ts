import { later } from '@tocsin/runtime';
import { checkNotRevoked, SECRET_OVERLAP, type Subscription } from '../domain/subscription.ts';
import { secretStore } from '../store/secret-store.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import type { SubscriptionCommand, Tools } from './context.ts';
import { newSecret } from './identifiers.ts';

/**
 * Gives a subscription a new secret; the one before signs beside it for 24 hours (contract: Webhooks).
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function rotateSecret(
  { database, time, vault }: Tools,
  { workspaceId, id }: SubscriptionCommand,
): Promise<{ subscription: Subscription; secret: string }> {
  return database.transaction(async (trx) => {
    const store = subscriptionStore(trx, workspaceId);
    const current = await store.getForUpdate(id);
    checkNotRevoked(current);
    const now = await time(trx);
    const secret = newSecret();
    const secrets = secretStore(trx, id);
    await secrets.retireCurrent(later(now, SECRET_OVERLAP));
    await secrets.add(vault.sealSecret(secret, id), now);
    const subscription = { ...current, updatedAt: now };
    await store.update(subscription);
    return { subscription, secret };
  });
}
