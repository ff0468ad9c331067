import { forgetActivity } from '../store/activity-store.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { limitStore } from '../store/limit-store.ts';
import { forgetExpiredSecrets } from '../store/secret-store.ts';
import type { Tools } from './context.ts';

type Needs = Pick<Tools, 'database' | 'time' | 'figures' | 'log'>;

/** Ends deliveries that can no longer be made: past their deadline, or lost in a crash of their last attempt. */
export async function giveUpDeliveries({ database, time, figures, log }: Needs): Promise<void> {
  const given = await deliveryStore(database).giveUp(await time(database));
  for (const reason of ['deadline', 'exhausted'] as const) {
    if (given[reason] === 0) continue;
    figures.deadLetters.inc({ reason }, given[reason]);
    log.warn({ because: reason, count: given[reason] }, 'deliveries failed for good');
  }
}

/** Forgets what is past its retention; answers whether there may be more. */
export async function forgetOldData({ database, time }: Needs): Promise<boolean> {
  const now = await time(database);
  await forgetExpiredSecrets(database, now);
  await forgetActivity(database, now);
  await database.transaction(async (trx) => {
    await limitStore(trx).lock();
    await limitStore(trx).forget(now);
  });
  return deliveryStore(database).forget(now);
}
