import type { Instant, Knex } from '@tocsin/runtime';
import { judge, type Outcome, type Verdict } from '../domain/delivery.ts';
import { MAX_CONSECUTIVE_FAILURES, type Subscription } from '../domain/subscription.ts';
import type { Claim } from '../store/claim-store.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { limitStore } from '../store/limit-store.ts';
import { subscriptionStore } from '../store/subscription-store.ts';
import { deactivate } from './change-activity.ts';
import type { Tools } from './context.ts';

export interface Finished {
  verdict: Verdict;
  /** This failure was the one too many: the subscription has to be verified again. */
  stopped: boolean;
}

/**
 * Records what became of a request (contract: Deliveries): on the delivery, on its subscription, and in the limits.
 * @returns undefined when the delivery was cancelled, or leased by another, meanwhile
 */
export async function finishAttempt(
  { database, time }: Pick<Tools, 'database' | 'time'>,
  claim: Claim,
  outcome: Outcome,
): Promise<Finished | undefined> {
  return database.transaction(async (trx) => {
    // Before the delivery: pausing and revoking lock in this order.
    const subscription = await subscriptionStore(trx, claim.workspaceId).getForUpdate(claim.subscriptionId);
    const now = await time(trx);
    const failure = outcome.kind === 'failure';
    const verdict = judge(outcome, {
      attempts: claim.attempts,
      failedAttempts: claim.failedAttempts + (failure ? 1 : 0),
      deadlineAt: claim.deadlineAt,
      now,
    });
    await limitStore(trx).close(claim.token);
    const record = { verdict, status: outcome.status, ...(failure && { error: outcome.reason }) };
    if (!(await deliveryStore(trx).finish(claim.token, record, now))) return undefined;
    return { verdict, stopped: await count({ trx, subscription, outcome, now }) };
  });
}

/** Counts the outcome for the subscription; answers whether it stops here. */
async function count(options: {
  trx: Knex.Transaction;
  subscription: Subscription;
  outcome: Outcome;
  now: Instant;
}): Promise<boolean> {
  const { trx, subscription, outcome, now } = options;
  const store = subscriptionStore(trx, subscription.workspaceId);
  if (outcome.kind === 'success') {
    await store.update({ ...subscription, consecutiveFailures: 0, lastSuccessAt: now });
    return false;
  }
  if (outcome.ours) return false;
  const consecutiveFailures = subscription.consecutiveFailures + 1;
  const failed = { ...subscription, consecutiveFailures, lastFailureAt: now };
  if (consecutiveFailures < MAX_CONSECUTIVE_FAILURES || !subscription.verified) {
    await store.update(failed);
    return false;
  }
  const unverified = { ...failed, verified: false };
  if (subscription.status === 'active') await deactivate({ trx, subscription: unverified, now });
  else await store.update(unverified);
  return true;
}
