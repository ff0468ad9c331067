import { DomainError } from '@tocsin/http';
import type { Outcome } from '../queue/domain/delivery.ts';
import { HOW_TO_ALLOW } from '@tocsin/safe-http';
import { checkNotRevoked, type Subscription } from './domain/subscription.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import { setActive, findLastIncidentNumber } from './change-status.ts';
import { recordSubscriptionChange } from './record-subscription-change.ts';
import { sendVerification } from './send-verification.ts';
import type { SubscriptionCommand, Dependencies } from '../dependencies.ts';

/**
 * Sends a signed request to the receiver, and activates the subscription if the response is a success (contract:
 * Webhooks).
 * @throws DomainError `not_found`, `invalid_resource_state`, `rate_limited`, `webhook_verification_failed`,
 *   `service_unavailable`
 */
export async function verifySubscription(
  dependencies: Dependencies,
  command: SubscriptionCommand,
): Promise<Subscription> {
  const { database, time } = dependencies;
  const { id, ...change } = command;
  const workspaceId = change.workspace.id;
  const subscription = await subscriptionStore(database, workspaceId).get(id);
  checkNotRevoked(subscription);
  const outcome = await sendVerification(dependencies, { subscription, requestId: change.requestId });
  if (outcome.kind === 'failure') throw verificationFailed(outcome);
  const lastIncidentNumber = await findLastIncidentNumber(dependencies, workspaceId);

  const updated = await database.transaction(async (trx) => {
    const store = subscriptionStore(trx, workspaceId);
    const current = await store.getForUpdate(id);
    checkNotRevoked(current);
    const now = await time(trx);
    const verified = { ...current, verified: true, consecutiveFailures: 0 };
    const after =
      current.status === 'paused'
        ? await setActive({ trx, subscription: verified, lastIncidentNumber, now })
        : verified;
    if (after === verified) await store.update(verified);
    await recordSubscriptionChange(trx, change, { verb: 'verified', before: current, after });
    return after;
  });
  dependencies.wakeDispatcher();
  dependencies.wakeRelay();
  return updated;
}

function verificationFailed({ reason, status }: Outcome & { kind: 'failure' }): DomainError {
  const cause = reason === 'blocked_address' ? `: its address is not allowed; ${HOW_TO_ALLOW}` : '';
  return new DomainError('webhook_verification_failed', `The receiver did not pass the verification${cause}`, {
    details: { reason, ...(status !== undefined && { status_code: status }) },
  });
}
