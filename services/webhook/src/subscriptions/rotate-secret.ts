import { addMilliseconds } from '@tocsin/runtime';
import { checkNotRevoked, SECRET_OVERLAP, type Subscription } from './domain/subscription.ts';
import { secretStore } from './store/secret-store.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import type { SubscriptionCommand, Dependencies } from '../dependencies.ts';
import { newSecret } from './identifiers.ts';
import { recordSubscriptionChange } from './record-subscription-change.ts';

/**
 * Gives a subscription a new secret. The previous one also signs for 24 hours (contract: Webhooks).
 * @throws DomainError `not_found`, `invalid_resource_state`
 */
export async function rotateSecret(
  { database, time, secretCipher, wakeRelay }: Dependencies,
  { id, ...change }: SubscriptionCommand,
): Promise<{ subscription: Subscription; secret: string }> {
  const rotated = await database.transaction(async (trx) => {
    const store = subscriptionStore(trx, change.workspace.id);
    const current = await store.getForUpdate(id);
    checkNotRevoked(current);
    const now = await time(trx);
    const secret = newSecret();
    const secrets = secretStore(trx, id);
    await secrets.retireCurrent(addMilliseconds(now, SECRET_OVERLAP));
    await secrets.add(secretCipher.encryptSecret(secret, id), now);
    const subscription = { ...current, updatedAt: now };
    await store.update(subscription);
    await recordSubscriptionChange(trx, change, { verb: 'secret_rotated', before: current, after: subscription });
    return { subscription, secret };
  });
  wakeRelay();
  return rotated;
}
