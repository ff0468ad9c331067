import { type Change, recordChange } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { checkSeesRestricted } from '@tocsin/http';
import { findLastIncidentNumber } from './change-status.ts';
import { checkNotRevoked, type Subscription } from './domain/subscription.ts';
import { subscriptionStore } from './store/subscription-store.ts';
import type { SubscriptionCommand, SubscriptionDependencies } from './subscription-command.ts';

type Verb = 'created' | 'verified' | 'paused' | 'resumed' | 'revoked' | 'secret_rotated' | 'headers_replaced';

/** Records what somebody did to a subscription in the audit log. */
export const recordSubscriptionChange = async (
  trx: Knex.Transaction,
  change: Change,
  { verb, before, after }: { verb: Verb; before: Subscription | null; after: Subscription },
): Promise<void> =>
  recordChange(trx, change, {
    action: `webhook.${verb}`,
    target: { type: 'webhook', id: after.id },
    before: before === null ? null : stateOf(before),
    after: stateOf(after),
    now: after.updatedAt,
  });

const stateOf = ({ name, origin, eventTypes, headerNames, includeRestricted, status }: Subscription) => ({
  name,
  url: origin,
  event_types: eventTypes,
  header_names: headerNames,
  include_restricted: includeRestricted,
  status,
});

interface Transition {
  verb: Verb;
  /** @throws DomainError in a state that does not allow the change; default: revoked */
  check?: (subscription: Subscription) => void;
  /** Whether the subscription is as it should be already, so that nothing changes. */
  isDone?: (subscription: Subscription) => boolean;
  /** Whether it makes a subscription send less, which needs no right to see restricted incidents. */
  isStop?: boolean;
  /** Whether the number of the workspace's latest incident is needed; see `findLastIncidentNumber`. */
  needsNumber?: boolean;
  /** Writes the change. */
  apply: (context: {
    trx: Knex.Transaction;
    /** Locked by the transaction. */
    subscription: Subscription;
    lastIncidentNumber: number | undefined;
    now: Instant;
  }) => Promise<Subscription>;
}

/**
 * Changes a subscription and records that in the audit log, in one transaction.
 * @throws DomainError `not_found`; `missing_scope` or `missing_role_permission` if the subscription gets restricted incidents
 *   and the caller may not see them; and as `check` and `apply`
 */
export async function changeSubscription(
  dependencies: SubscriptionDependencies,
  { id, caller, ...change }: SubscriptionCommand,
  { verb, check = checkNotRevoked, isDone, isStop = false, needsNumber = false, apply }: Transition,
): Promise<Subscription> {
  const { database, time, wakeDispatcher, wakeRelay } = dependencies;
  const { workspace } = change;
  const lastIncidentNumber = needsNumber ? await findLastIncidentNumber(dependencies, workspace.id) : undefined;
  const changed = await database.transaction(async (trx) => {
    const subscription = await subscriptionStore(trx, workspace.id).getForUpdate(id);
    if (subscription.includeRestricted && !isStop) checkSeesRestricted(caller);
    check(subscription);
    if (isDone?.(subscription) === true) return subscription;
    const after = await apply({ trx, subscription, lastIncidentNumber, now: await time(trx) });
    await recordSubscriptionChange(trx, change, { verb, before: subscription, after });
    return after;
  });
  if (changed.status === 'active') wakeDispatcher();
  wakeRelay();
  return changed;
}
