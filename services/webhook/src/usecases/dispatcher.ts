import { startSweep } from '@tocsin/runtime';
import type { Breakers } from '../clients/breakers.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import { claimDeliveries } from './claim-deliveries.ts';
import type { Tools } from './context.ts';

export interface Dispatcher {
  /** Looks at the queue at once. */
  wake(): void;
  /** Claims nothing more, and waits for the attempts under way. */
  stop(): Promise<void>;
}

/**
 * Sends what is due. Any number of dispatchers may run: what one has claimed no other sees, and what one leaves behind in a crash
 * is claimed again when its lease is over. It is woken by commits and by ends of attempts, sets a timer for the next due
 * delivery, and looks at the queue every `interval` milliseconds besides.
 */
export function startDispatcher(
  tools: Omit<Tools, 'wakeDispatcher'>,
  breakers: Breakers,
  interval: number,
): Dispatcher {
  const { database, time, log } = tools;
  const underWay = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const start = (claim: Parameters<typeof attemptDelivery>[2]) => {
    const attempt = attemptDelivery({ ...tools, wakeDispatcher: sweep.wake }, breakers, claim)
      // What it had taken is free again when its lease is over.
      .catch((error: unknown) => log.error({ err: error, delivery: claim.deliveryId }, 'an attempt was interrupted'))
      .finally(() => {
        underWay.delete(attempt);
        sweep.wake();
      });
    underWay.add(attempt);
  };

  const dispatch = async (): Promise<boolean> => {
    clearTimeout(timer);
    const due = await deliveryStore(database).nextDue();
    if (due === undefined) return false;
    const wait = Date.parse(due) - Date.parse(await time(database));
    if (wait > 0) {
      // Anything later is for a later look.
      if (wait < interval) timer = setTimeout(sweep.wake, wait);
      return false;
    }
    const claims = await claimDeliveries(tools, breakers.refused());
    claims.forEach(start);
    return claims.length > 0;
  };

  const sweep = startSweep({ name: 'dispatching webhooks', interval, log, work: dispatch });
  return {
    wake: sweep.wake,
    stop: async () => {
      await sweep.stop();
      clearTimeout(timer);
      await Promise.all(underWay);
    },
  };
}
