import { randomUUID } from 'node:crypto';
import { pipeline } from '@tocsin/postgres';
import { addMilliseconds } from '@tocsin/runtime';
import { chooseFairly } from './domain/choose-fairly.ts';
import { LEASE_DURATION } from '../requests/domain/limits.ts';
import {
  type Candidate,
  candidateStatements,
  type Claim,
  dueCandidates,
  leaseStatement,
  returnDueStatement,
  toClaim,
} from './store/claim-store.ts';
import { limitStatements, placesIn, usageOf } from '../requests/store/limit-store.ts';
import type { SendingDependencies } from '../subscriptions/subscription-command.ts';

type ClaimDependencies = Pick<SendingDependencies, 'database' | 'time' | 'requestLimits'>;

/**
 * Returns a function that leases due deliveries, one per workspace in turn, as many as the limits allow (contract:
 * Deliveries). It makes three round trips, and waits for no other transaction: the first finds deliveries that the
 * limits seem to allow. A transaction of the other two takes the locks of their limits that are free, counts under them,
 * and leases what they allow. What another process is claiming is left to it.
 */
export function deliveryClaims(dependencies: ClaimDependencies): (
  /** Hosts that must not be sent to now. */
  blockedHosts: readonly string[],
) => Promise<Claim[]> {
  /** The workspace that this process served last: its next claim begins behind it. */
  let after = 0;
  return async (blockedHosts) => {
    const { chosen, free } = await findAllowed(dependencies, { after, blockedHosts });
    if (chosen.length === 0) return [];
    const { claims, last } = await lease(dependencies, { chosen, free, after });
    after = last ?? after;
    return claims;
  };
}

/** Finds the deliveries to claim, as far as the limits seem to allow them. */
async function findAllowed(
  { database, time, requestLimits: limits }: ClaimDependencies,
  { after, blockedHosts }: { after: number; blockedHosts: readonly string[] },
) {
  const now = time.parameter();
  const [, windows, slots, first, wrapped] = await pipeline(database, [
    returnDueStatement(now),
    limitStatements.usedWindows(now),
    limitStatements.usedSlots(now),
    ...candidateStatements({ after, blockedHosts, limits, time: now }),
  ]);
  const { budget, free } = usageOf('delivery', { windows, slots }, limits);
  return { chosen: chooseFairly(dueCandidates(first, wrapped), { budget, after }), free };
}

/** Leases those of the chosen deliveries that the limits allow, as far as nobody else holds their locks. */
async function lease(
  { database, time, requestLimits }: ClaimDependencies,
  { chosen, free, after }: Awaited<ReturnType<typeof findAllowed>> & { after: number },
): Promise<{ claims: Claim[]; last?: number | undefined }> {
  return database.transaction(async (trx) => {
    // What is used is read by statements after those that lock.
    const [destinations, windowShares, slotShares, windows, slots] = await pipeline(trx, [
      limitStatements.tryDestinations(chosen),
      ...limitStatements.tryShares('delivery', free, { count: chosen.length }),
      limitStatements.usedWindows(time.parameter()),
      limitStatements.usedSlots(time.parameter()),
    ]);
    const { now, budget, free: left } = usageOf('delivery', { windows, slots }, requestLimits);
    const places = placesIn(left, { windowShares, slotShares });
    const locked = destinations.map(({ index }) => chosen[index] as Candidate);
    const opened = chooseFairly(locked, { budget, after })
      .slice(0, places.length)
      .map(({ deliveryId, workspaceId, host, ip }, index) => ({
        ...{ deliveryId, workspaceId, host, ip },
        ...(places[index] as (typeof places)[number]),
        token: randomUUID(),
        kind: 'delivery' as const,
      }));
    if (opened.length === 0) return { claims: [] };
    const [leased] = await pipeline(
      trx,
      [
        leaseStatement(opened, { now, until: addMilliseconds(now, LEASE_DURATION) }),
        ...limitStatements.openSlots(opened, now, { ifLeased: true }),
      ],
      { commit: true },
    );
    return { claims: leased.map(toClaim), last: opened.at(-1)?.workspaceId };
  });
}
