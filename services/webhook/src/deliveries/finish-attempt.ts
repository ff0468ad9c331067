import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { decideRetry, type RetryDecision } from '../queue/domain/delivery.ts';
import { MAX_CONSECUTIVE_FAILURES, type Subscription } from '../subscriptions/domain/subscription.ts';
import type { AnsweredOutcome } from '../requests/clients/sender.ts';
import type { Claim } from './store/claim-store.ts';
import { leaseStore } from './store/lease-store.ts';
import { limitStore } from '../requests/store/limit-store.ts';
import { subscriptionStore } from '../subscriptions/store/subscription-store.ts';
import { findLastIncidentNumber, setPaused } from '../subscriptions/change-status.ts';
import type { SendingDependencies, SubscriptionDependencies } from '../subscriptions/subscription-command.ts';

/** The incident service is asked when a subscription is paused. */
export type AttemptDependencies = SendingDependencies & Pick<SubscriptionDependencies, 'incidents'>;

export interface RecordedAttempt {
  decision: RetryDecision;
  /** When the delivery was last changed, by the clock of its deadline. */
  at: Instant;
  /** Whether this failure was one too many, so that the subscription must be verified again. */
  pausedSubscription: boolean;
}

/** A request to a receiver that has ended; `duration` in milliseconds. */
export interface EndedRequest {
  outcome: AnsweredOutcome;
  duration: number;
}

/**
 * Records the outcome of a request (contract: Deliveries) with the delivery and its subscription, and frees the slot.
 * @returns undefined when the delivery was cancelled or leased again meanwhile
 */
export async function finishAttempt(
  dependencies: AttemptDependencies,
  claim: Claim,
  { outcome, duration }: EndedRequest,
): Promise<RecordedAttempt | undefined> {
  const { database, time } = dependencies;
  // Only the transaction finds out whether this failure pauses the subscription, and it must not wait for another
  // service.
  const mayPause = outcome.kind === 'failure' && !outcome.isLocal && !claim.isRestricted;
  const lastIncidentNumber = mayPause ? await findLastIncidentNumber(dependencies, claim.workspaceId) : undefined;
  return database.transaction(async (trx) => {
    // Locked before the delivery, in the same order as pausing and revoking do.
    const subscription = await subscriptionStore(trx, claim.workspaceId).getForUpdate(claim.subscriptionId);
    const now = await time(trx);
    const isFailure = outcome.kind === 'failure';
    const decision = decideRetry(outcome, {
      attempts: claim.attempts,
      failedAttempts: claim.failedAttempts + (isFailure ? 1 : 0),
      deadlineAt: claim.deadlineAt,
      now,
    });
    await limitStore(trx).closeSlot(claim.token);
    const result = isFailure ? outcome.reason : 'succeeded';
    const { status, answer } = outcome;
    const record = { number: claim.attempts, decision, result, status, duration, answer } as const;
    if (!(await leaseStore(trx).finish(claim, record, now))) return undefined;
    // Whoever manages webhooks sees the subscription, but may not know of the incident.
    if (claim.isRestricted) return { decision, at: now, pausedSubscription: false };
    const pausedSubscription = await updateSubscription({ trx, subscription, outcome, lastIncidentNumber, now });
    return { decision, at: now, pausedSubscription };
  });
}

/**
 * Counts the outcome for the subscription. Returns whether that pauses it, or takes its verification away while it is
 * paused.
 */
async function updateSubscription(options: {
  trx: Knex.Transaction;
  subscription: Subscription;
  outcome: AnsweredOutcome;
  lastIncidentNumber: number | undefined;
  now: Instant;
}): Promise<boolean> {
  const { trx, subscription, outcome, lastIncidentNumber, now } = options;
  const store = subscriptionStore(trx, subscription.workspaceId);
  if (outcome.kind === 'success') {
    await store.update({ ...subscription, consecutiveFailures: 0, lastSuccessAt: now });
    return false;
  }
  if (outcome.isLocal) return false;
  const consecutiveFailures = subscription.consecutiveFailures + 1;
  const failed = { ...subscription, consecutiveFailures, lastFailureAt: now };
  if (consecutiveFailures < MAX_CONSECUTIVE_FAILURES || !subscription.verified) {
    await store.update(failed);
    return false;
  }
  const unverified = { ...failed, verified: false };
  if (subscription.status === 'active') await setPaused({ trx, subscription: unverified, lastIncidentNumber, now });
  else await store.update(unverified);
  return true;
}
