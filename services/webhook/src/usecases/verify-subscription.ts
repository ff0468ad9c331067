import { DomainError } from '@tocsin/http';
import type { Outcome } from '../domain/delivery.ts';
import { checkNotRevoked, type Subscription } from '../domain/subscription.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import { activate } from './change-activity.ts';
import { checkReceiver } from './check-receiver.ts';
import type { SubscriptionCommand, Tools } from './context.ts';

/**
 * Sends a signed request to the receiver; if it answers well, the subscription becomes active (contract: Webhooks).
 * @throws DomainError `not_found`, `invalid_resource_state`, `rate_limited`, `webhook_verification_failed`
 */
export async function verifySubscription(tools: Tools, command: SubscriptionCommand): Promise<Subscription> {
  const { database, time } = tools;
  const { workspaceId, id } = command;
  const subscription = await subscriptionStore(database, workspaceId).get(id);
  checkNotRevoked(subscription);
  const outcome = await checkReceiver(tools, { subscription, requestId: command.requestId });
  if (outcome.kind === 'failure') throw verificationFailed(outcome);

  const verified = await database.transaction(async (trx) => {
    const store = subscriptionStore(trx, workspaceId);
    const current = await store.getForUpdate(id);
    checkNotRevoked(current);
    const sound = { ...current, verified: true, consecutiveFailures: 0 };
    if (current.status === 'paused') return activate({ trx, subscription: sound, now: await time(trx) });
    await store.update(sound);
    return sound;
  });
  tools.wakeDispatcher();
  return verified;
}

function verificationFailed({ reason, status }: Outcome & { kind: 'failure' }): DomainError {
  return new DomainError('webhook_verification_failed', 'The receiver did not answer the check as it should', {
    details: { reason, ...(status !== undefined && { status_code: status }) },
  });
}
