import { randomUUID } from 'node:crypto';
import { pipeline } from '@tocsin/postgres';
import { addMilliseconds } from '@tocsin/runtime';
import { chooseFairly } from './domain/choose-fairly.ts';
import { LEASE_DURATION } from '../requests/domain/limits.ts';
import { type Claim, findCandidates, leaseStatement, returnDueStatement, toClaim } from './store/claim-store.ts';
import { budgetOf, limitStatements } from '../requests/store/limit-store.ts';
import type { SendingDependencies } from '../subscriptions/subscription-command.ts';

/**
 * Leases due deliveries, one per workspace in turn, as many as the limits allow (contract: Deliveries). One transaction of
 * three round trips leases them and takes the slots.
 * @param blockedHosts hosts that must not be sent to now
 */
export async function claimDeliveries(
  { database, time, requestLimits }: Pick<SendingDependencies, 'database' | 'time' | 'requestLimits'>,
  blockedHosts: readonly string[],
): Promise<Claim[]> {
  return database.transaction(async (trx) => {
    // The time and what is used are read by statements after the one that waits for the lock.
    const [[dispatcher], windows, slots] = await pipeline(trx, [
      limitStatements.lock(),
      limitStatements.usedWindows(time.parameter()),
      limitStatements.usedSlots(time.parameter()),
      returnDueStatement(time.parameter()),
    ]);
    if (dispatcher === undefined) throw new Error('the table dispatcher has no row');
    const { last_workspace_id: after } = dispatcher;
    const { now, budget } = budgetOf('delivery', { windows, slots }, requestLimits);
    if (budget.exhaustedKeys('all').length > 0) return [];
    const candidates = await findCandidates(trx, now, {
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

    const opened = chosen.map(({ deliveryId, workspaceId, host, ip }) => ({
      deliveryId,
      slot: { token: randomUUID(), kind: 'delivery' as const, workspaceId, host, ip },
    }));
    const tokens = new Map(opened.map(({ deliveryId, slot }) => [deliveryId, slot.token]));
    const [leased] = await pipeline(
      trx,
      [
        leaseStatement(tokens, { now, until: addMilliseconds(now, LEASE_DURATION) }),
        ...limitStatements.openSlots(
          opened.map(({ slot }) => slot),
          now,
          { ifLeased: true },
        ),
        limitStatements.setLastWorkspace(last.workspaceId),
      ],
      { commit: true },
    );
    return leased.map(toClaim);
  });
}
