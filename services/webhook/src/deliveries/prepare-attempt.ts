import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { PreparedRequest } from '@tocsin/safe-http';
import { retryAt } from '../queue/domain/delivery.ts';
import { windowEnd } from '../requests/domain/limits.ts';
import { type Claim, confirmClaim } from './store/claim-store.ts';
import { leaseStore } from './store/lease-store.ts';
import { limitStore } from '../requests/store/limit-store.ts';
import { assignAddress } from '../requests/assign-address.ts';
import type { SendingDependencies } from '../subscriptions/subscription-command.ts';
import { sign, signWith } from '../subscriptions/sign.ts';

/** Whether a claimed delivery may be sent, decided once its receiver's address is known. */
export type PreparedAttempt =
  | { kind: 'ready'; message: PreparedRequest }
  /**
   * The window of the address is full. This counts as an attempt; the next one, if any, follows when the window ends.
   */
  | { kind: 'deferred'; isFinal: boolean }
  /** No slot was free after all, or the subscription was paused meanwhile. This does not count as an attempt. */
  | { kind: 'released' }
  /** The lease expired or the delivery was cancelled. */
  | { kind: 'lost' };

/**
 * The last check before a request is sent: of the lease, the subscription and the limits of the address. Counts the
 * attempt and signs the request. One statement is enough if the slot was taken for this address and this minute, as
 * usual: nothing is counted in the limits then, so their locks are not needed.
 */
export async function prepareAttempt(
  dependencies: SendingDependencies,
  claim: Claim,
  ip: string,
): Promise<PreparedAttempt> {
  const { database, time } = dependencies;
  const confirmed = await confirmClaim(database, claim, { ip, time: time.parameter() });
  if (confirmed === undefined) return prepareWithLocks(dependencies, claim, ip);
  return { kind: 'ready', message: signWith(dependencies, confirmed.secrets, claim, confirmed.now) };
}

/** Counts the request for its address and its minute, or finds out why it must not be sent. */
async function prepareWithLocks(dependencies: SendingDependencies, claim: Claim, ip: string): Promise<PreparedAttempt> {
  return dependencies.database.transaction(async (trx) => {
    const limits = limitStore(trx);
    if (!(await limits.lockSlot(claim.token, ip))) return { kind: 'lost' };
    const now = await dependencies.time(trx);
    const slot = await limits.findSlot(claim.token, now);
    const status = await leaseStore(trx).lock(claim);
    if (slot === undefined || status === undefined) {
      if (slot !== undefined) await limits.releaseSlot(slot);
      return { kind: 'lost' };
    }
    if (status === 'held') {
      await limits.releaseSlot(slot);
      await leaseStore(trx).release(claim, now);
      return { kind: 'released' };
    }
    const limit = await assignAddress(limits, { slot, ip, now, requestLimits: dependencies.requestLimits });
    if (limit?.scope === 'ip' && limit.resource === 'window') return defer(trx, claim, now);
    if (limit !== undefined) {
      await leaseStore(trx).release(claim, now);
      return { kind: 'released' };
    }
    const message = await sign(dependencies, trx, claim, now);
    if (message === undefined) return { kind: 'lost' };
    await leaseStore(trx).countAttempt(claim);
    return { kind: 'ready', message };
  });
}

async function defer(trx: Knex.Transaction, claim: Claim, now: Instant): Promise<PreparedAttempt> {
  const decision = retryAt(windowEnd(now), claim);
  const record = { number: claim.attempts, decision, result: 'deferred', duration: 0 } as const;
  await leaseStore(trx).finish(claim, record, now);
  return { kind: 'deferred', isFinal: decision.kind === 'failed' };
}

/** Undoes a claim whose request was not sent: the limits are as before. */
export async function releaseClaim({ database, time }: SendingDependencies, claim: Claim): Promise<void> {
  await database.transaction(async (trx) => {
    const limits = limitStore(trx);
    const isOpen = await limits.lockSlot(claim.token, null);
    const now = await time(trx);
    const slot = isOpen ? await limits.findSlot(claim.token, now) : undefined;
    if (slot !== undefined) await limits.releaseSlot(slot);
    await leaseStore(trx).release(claim, now);
  });
}
