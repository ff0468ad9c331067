import { randomUUID } from 'node:crypto';
import { addMilliseconds } from '@tocsin/runtime';
import { chooseFairly } from '../domain/choose-fairly.ts';
import { LEASE_DURATION } from '../domain/limits.ts';
import { type Claim, claimStore } from '../store/claim-store.ts';
import { limitStore } from '../store/limit-store.ts';
import type { Dependencies } from './context.ts';

/**
 * Leases due deliveries, one per workspace in turn, as many as the limits allow (contract: Limits). One transaction
 * leases them, counts the attempts and takes the slots.
 * @param blockedHosts hosts that must not be sent to now
 */
export async function claimDeliveries(
  { database, time, requestLimits }: Pick<Dependencies, 'database' | 'time' | 'requestLimits'>,
  blockedHosts: readonly string[],
): Promise<Claim[]> {
  return database.transaction(async (trx) => {
    const limits = limitStore(trx);
    const after = await limits.lock();
    const now = await time(trx);
    const budget = await limits.budget('delivery', { now, limits: requestLimits });
    if (budget.exhaustedKeys('all').length > 0) return [];
    const store = claimStore(trx);
    const candidates = await store.candidates(now, {
      after,
      exhausted: {
        workspaces: budget.exhaustedKeys('workspace').map(Number),
        hosts: [...budget.exhaustedKeys('host'), ...blockedHosts],
        ips: budget.exhaustedKeys('ip'),
      },
    });
    const chosen = chooseFairly(candidates, { budget, after });
    const last = chosen.at(-1);
    if (last === undefined) return [];

    const tokens = new Map(chosen.map(({ deliveryId }) => [deliveryId, randomUUID()]));
    const claims = await store.lease(tokens, { now, until: addMilliseconds(now, LEASE_DURATION) });
    const leased = new Set(claims.map(({ deliveryId }) => deliveryId));
    await limits.openSlots(
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
