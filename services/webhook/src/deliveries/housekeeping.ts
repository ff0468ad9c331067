import { addMilliseconds } from '@tocsin/runtime';
import { forgetActivity } from '../subscriptions/store/activity-store.ts';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { limitStore } from '../requests/store/limit-store.ts';
import { forgetExpiredSecrets } from '../subscriptions/store/secret-store.ts';
import { forgetRevoked } from '../subscriptions/store/subscription-store.ts';
import type { Dependencies } from '../dependencies.ts';

type HousekeepingDependencies = Pick<Dependencies, 'database' | 'time' | 'metrics' | 'log'>;

/** Fails deliveries that are past their deadline or whose last attempt was lost in a crash. */
export async function giveUpDeliveries({ database, time, metrics, log }: HousekeepingDependencies): Promise<void> {
  const failed = await deliveryStore(database).giveUp(await time(database));
  for (const reason of ['deadline', 'exhausted'] as const) {
    if (failed[reason] === 0) continue;
    metrics.deadLetters.inc({ reason }, failed[reason]);
    log.warn({ because: reason, count: failed[reason] }, 'deliveries failed permanently');
  }
}

/** Deletes data past its retention. Returns whether there may be more. */
export async function deleteExpiredData({
  database,
  time,
  deliveryLimits,
}: Pick<Dependencies, 'database' | 'time' | 'deliveryLimits'>): Promise<boolean> {
  const now = await time(database);
  await forgetExpiredSecrets(database, now);
  await forgetActivity(database, now);
  await database.transaction(async (trx) => {
    await limitStore(trx).lock();
    await limitStore(trx).forget(now);
  });
  const hasMoreEvents = await deliveryStore(database).forget(addMilliseconds(now, -deliveryLimits.retention));
  const hasMoreRevoked = await forgetRevoked(database, addMilliseconds(now, -deliveryLimits.revokedRetention));
  return hasMoreEvents || hasMoreRevoked;
}
