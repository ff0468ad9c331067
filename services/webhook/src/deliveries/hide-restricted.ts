import { type Knex, query } from '@tocsin/postgres';
import { findRestriction, hideEarlier } from '../feed/store/feed-hider.ts';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { lockForEvents } from '../subscriptions/store/subscription-store.ts';
import type { Time } from '../shared/store/time.ts';

/**
 * Hides what was recorded of an incident before it became restricted, a batch of the feed at a time, and cancels its
 * waiting deliveries to webhooks that get no restricted incidents. Returns whether there may be more.
 */
export async function hideRestricted({ database, time }: { database: Knex; time: Time }): Promise<boolean> {
  const restriction = await findRestriction(database);
  if (restriction === undefined) return false;
  await database.transaction(async (trx) => {
    if (!(await hideEarlier(trx, restriction))) return;
    // Locked before its deliveries, as pausing does.
    await query(trx, lockForEvents('incident.created', [restriction.workspaceId]));
    await deliveryStore(trx).restrict(restriction, await time(trx));
  });
  return true;
}
