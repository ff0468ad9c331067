import { checkSeesRestricted } from '@tocsin/http';
import { checkNotRevoked } from './domain/subscription.ts';
import { type EndedCheck, sendVerification } from './send-verification.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import type { SendingDependencies, SubscriptionCommand } from './subscription-command.ts';

/**
 * Sends what a verification sends, within the same limits, and changes nothing (contract: Webhooks).
 * @throws DomainError `not_found`, `invalid_resource_state`, `rate_limited`; as a verification does for a caller who may
 *   not see restricted incidents
 */
export async function testSubscription(
  dependencies: SendingDependencies,
  { id, workspace, caller, requestId }: SubscriptionCommand,
): Promise<EndedCheck> {
  const subscription = await subscriptionStore(dependencies.database, workspace.id).get(id);
  if (subscription.includeRestricted) checkSeesRestricted(caller);
  checkNotRevoked(subscription);
  return sendVerification(dependencies, { subscription, requestId });
}
