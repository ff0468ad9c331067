import { type Dispatcher, startDispatcher } from '@tocsin/runtime';
import type { HostBreakers } from '../requests/clients/breakers.ts';
import { deliveryStore } from '../queue/store/delivery-store.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import type { AttemptDependencies } from './finish-attempt.ts';
import { deliveryClaims } from './claim-deliveries.ts';

/** Starts the dispatcher that sends due deliveries (contract: Deliveries). */
export function startSending(dependencies: AttemptDependencies, breakers: HostBreakers, interval: number): Dispatcher {
  const { database, time, log } = dependencies;
  const claim = deliveryClaims(dependencies);
  const dispatcher: Dispatcher = startDispatcher({
    name: 'sending webhooks',
    interval,
    log,
    nextDue: async () => {
      const { due, now } = await deliveryStore(database).nextDue(time.parameter());
      return due === null ? undefined : Date.parse(due) - Date.parse(now);
    },
    claim: async () => claim(breakers.blockedHosts()),
    run: async (claimed) => attemptDelivery(dependencies, breakers, claimed),
  });
  return dispatcher;
}
