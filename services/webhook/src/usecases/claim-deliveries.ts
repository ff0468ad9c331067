import { randomUUID } from 'node:crypto';
import { later } from '@tocsin/runtime';
import { chooseFairly } from '../domain/choice.ts';
import { LEASE } from '../domain/limits.ts';
import { type Claim, claimStore } from '../store/claim-store.ts';
import { limitStore } from '../store/limit-store.ts';
import type { Tools } from './context.ts';

/**
 * Leases what may be sent now: due deliveries, one of each workspace in turn, no more than the limits leave room for. The slots
 * and windows are taken before the attempts are counted, all in one transaction (contract: Limits).
 * @param refusedHosts hosts that nothing is to be sent to now
 */
export async function claimDeliveries(
  { database, time }: Pick<Tools, 'database' | 'time'>,
  refusedHosts: readonly string[],
): Promise<Claim[]> {
  return database.transaction(async (trx) => {
    const limits = limitStore(trx);
    const after = await limits.lock();
    const now = await time(trx);
    const budget = await limits.budget('delivery', now);
    if (budget.exhausted('all').length > 0) return [];
    const store = claimStore(trx);
    const candidates = await store.candidates(now, {
      after,
      exhausted: {
        workspaces: budget.exhausted('workspace').map(Number),
        hosts: [...budget.exhausted('host'), ...refusedHosts],
        ips: budget.exhausted('ip'),
      },
    });
    const chosen = chooseFairly(candidates, { budget, after });
    const last = chosen.at(-1);
    if (last === undefined) return [];

    const tokens = new Map(chosen.map(({ deliveryId }) => [deliveryId, randomUUID()]));
    const claims = await store.lease(tokens, { now, until: later(now, LEASE) });
    const leased = new Set(claims.map(({ deliveryId }) => deliveryId));
    await limits.open(
      chosen
        .filter(({ deliveryId }) => leased.has(deliveryId))
        .map(({ deliveryId, workspaceId, host, ip }) => ({
          token: tokens.get(deliveryId) ?? '',
          kind: 'delivery',
          workspaceId,
          host,
          ip,
        })),
      now,
    );
    await limits.setLastWorkspace(last.workspaceId);
    return claims;
  });
}
