import { checkSeesRestricted, DomainError } from '@tocsin/http';
import type { Outcome } from '../queue/domain/delivery.ts';
import { HOW_TO_ALLOW } from '@tocsin/safe-http';
import { checkNotRevoked, type Subscription } from './domain/subscription.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import { setActive } from './change-status.ts';
import { changeSubscription } from './change-subscription.ts';
import type { SendingDependencies, SubscriptionCommand, SubscriptionDependencies } from './subscription-command.ts';
import { sendVerification } from './send-verification.ts';

/**
 * Sends a signed request to the receiver, and activates the subscription if the response is a success (contract:
 * Webhooks).
 * @throws DomainError `not_found`, `invalid_resource_state`, `rate_limited`, `webhook_verification_failed`,
 *   `service_unavailable`
 */
export async function verifySubscription(
  dependencies: SubscriptionDependencies & SendingDependencies,
  command: SubscriptionCommand,
): Promise<Subscription> {
  const workspaceId = command.workspace.id;
  const subscription = await subscriptionStore(dependencies.database, workspaceId).get(command.id);
  if (subscription.includeRestricted) checkSeesRestricted(command.caller);
  checkNotRevoked(subscription);
  const { outcome } = await sendVerification(dependencies, { subscription, requestId: command.requestId });
  if (outcome.kind === 'failure') throw verificationFailed(outcome);
  return changeSubscription(dependencies, command, {
    verb: 'verified',
    needsNumber: true,
    apply: async ({ trx, subscription: current, lastIncidentNumber, now }) => {
      const verified = { ...current, verified: true, consecutiveFailures: 0 };
      if (current.status === 'paused') return setActive({ trx, subscription: verified, lastIncidentNumber, now });
      await subscriptionStore(trx, workspaceId).update(verified);
      return verified;
    },
  });
}

function verificationFailed({ reason, status }: Outcome & { kind: 'failure' }): DomainError {
  const cause = reason === 'blocked_address' ? `: its address is not allowed; ${HOW_TO_ALLOW}` : '';
  return new DomainError('webhook_verification_failed', `The receiver did not pass the verification${cause}`, {
    details: { reason, ...(status !== undefined && { status_code: status }) },
  });
}
