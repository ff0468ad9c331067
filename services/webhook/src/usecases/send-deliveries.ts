import { type Dispatcher, startDispatcher } from '@tocsin/runtime';
import type { Breakers } from '../clients/breakers.ts';
import { deliveryStore } from '../store/delivery-store.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import { claimDeliveries } from './claim-deliveries.ts';
import type { Tools } from './context.ts';

/** Sends what is due (contract: Deliveries). */
export function startSending(tools: Omit<Tools, 'wakeDispatcher'>, breakers: Breakers, interval: number): Dispatcher {
  const { database, time, log } = tools;
  const dispatcher: Dispatcher = startDispatcher({
    name: 'sending webhooks',
    interval,
    log,
    nextDue: async () => {
      const due = await deliveryStore(database).nextDue();
      return due === undefined ? undefined : Date.parse(due) - Date.parse(await time(database));
    },
    claim: async () => claimDeliveries(tools, breakers.refused()),
    run: async (claim) => attemptDelivery({ ...tools, wakeDispatcher: dispatcher.wake }, breakers, claim),
  });
  return dispatcher;
}
