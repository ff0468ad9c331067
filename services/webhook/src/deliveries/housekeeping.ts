import { addMilliseconds } from '@tocsin/runtime';
import { forgetActivity } from '../subscriptions/store/activity-store.ts';
import { expiryStore } from './store/expiry-store.ts';
import { limitStore } from '../requests/store/limit-store.ts';
import { forgetExpiredSecrets } from '../subscriptions/store/secret-store.ts';
import { forgetRevoked } from '../subscriptions/store/subscription-store.ts';
import type { SendingDependencies } from '../subscriptions/subscription-command.ts';
import type { DeliveryLimits } from '../queue/domain/delivery.ts';

/** Fails deliveries that are past their deadline or whose last attempt was lost in a crash. */
export async function failExpiredDeliveries({ database, time, metrics, log }: SendingDependencies): Promise<void> {
  const store = expiryStore(database);
  if (!(await store.mayHaveExpired(time.parameter()))) return;
  const failed = await store.failExpired(await time(database));
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
}: Pick<SendingDependencies, 'database' | 'time'> & { deliveryLimits: DeliveryLimits }): Promise<boolean> {
  const now = await time(database);
  await forgetExpiredSecrets(database, now);
  await forgetActivity(database, now);
  await limitStore(database).forget(now);
  const hasMoreEvents = await expiryStore(database).forget(addMilliseconds(now, -deliveryLimits.retention));
  const hasMoreRevoked = await forgetRevoked(database, addMilliseconds(now, -deliveryLimits.revokedRetention));
  return hasMoreEvents || hasMoreRevoked;
}
