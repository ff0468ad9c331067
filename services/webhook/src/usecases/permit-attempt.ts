import type { Instant, Knex } from '@tocsin/runtime';
import type { Prepared } from '@tocsin/safe-http';
import { retryAt } from '../domain/delivery.ts';
import { windowEnd } from '../domain/limits.ts';
import type { Claim } from '../store/claim-store.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { limitStore } from '../store/limit-store.ts';
import type { Tools } from './context.ts';
import { settleSlot } from './settle-slot.ts';
import { sign } from './sign.ts';

/** What is decided about a claimed delivery once its receiver's address is known. */
export type Permit =
  | { kind: 'granted'; message: Prepared }
  /** The address's window is full: that was the attempt, and the next is after the window's end. */
  | { kind: 'deferred'; exhausted: boolean }
  /** No attempt: there was no slot after all, or the subscription was paused since. */
  | { kind: 'released' }
  /** The lease ran out, or the delivery was cancelled: it is another's business now, or nobody's. */
  | { kind: 'lost' };

/** The last look before a request goes out: at the lease, at the subscription, and at the limits of the address. */
export async function permitAttempt(tools: Tools, claim: Claim, ip: string): Promise<Permit> {
  return tools.database.transaction(async (trx) => {
    const limits = limitStore(trx);
    await limits.lock();
    const now = await tools.time(trx);
    const slot = await limits.findSlot(claim.token, now);
    const status = await deliveryStore(trx).findLeased(claim.token);
    if (slot === undefined || status === undefined) {
      if (slot !== undefined) await limits.giveBack(slot);
      return { kind: 'lost' };
    }
    if (status === 'held') {
      await limits.giveBack(slot);
      await deliveryStore(trx).release(claim.token, { dueAt: now, countsAsAttempt: false });
      return { kind: 'released' };
    }
    const full = await settleSlot(limits, { slot, ip, now });
    if (full?.scope === 'ip' && full.what === 'window') return defer(trx, claim, now);
    if (full !== undefined) {
      await deliveryStore(trx).release(claim.token, { dueAt: now, countsAsAttempt: false });
      return { kind: 'released' };
    }
    const message = await sign(tools, trx, claim, now);
    return message === undefined ? { kind: 'lost' } : { kind: 'granted', message };
  });
}

async function defer(trx: Knex.Transaction, claim: Claim, now: Instant): Promise<Permit> {
  const verdict = retryAt(windowEnd(now), claim);
  if (verdict.kind === 'retry') {
    await deliveryStore(trx).release(claim.token, { dueAt: verdict.at, countsAsAttempt: true });
  } else {
    await deliveryStore(trx).finish(claim.token, { verdict }, now);
  }
  return { kind: 'deferred', exhausted: verdict.kind === 'failed' };
}

/** Undoes a claim of which nothing was sent: no attempt, and nothing counted against the limits. */
export async function releaseClaim({ database, time }: Pick<Tools, 'database' | 'time'>, claim: Claim): Promise<void> {
  await database.transaction(async (trx) => {
    const limits = limitStore(trx);
    await limits.lock();
    const now = await time(trx);
    const slot = await limits.findSlot(claim.token, now);
    if (slot !== undefined) await limits.giveBack(slot);
    await deliveryStore(trx).release(claim.token, { dueAt: now, countsAsAttempt: false });
  });
}
