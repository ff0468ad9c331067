import { parseTimestamp } from '@tocsin/contracts';
import type { EventHandlers } from '@tocsin/messaging';
import { impactStore } from '../store/impact-store.ts';
import type { CountIgnored } from './ignored-events.ts';

/**
 * Stores the customer impact of incidents as an external system reports it. It is computed data, so it does not raise the
 * incident's revision: a report must not fail a user's PATCH.
 */
export const customerImpactHandlers = (ignored: CountIgnored): EventHandlers => ({
  'customer-impact.updated': async ({ type, workspace, data }, trx) => {
    const isStored =
      workspace.id === data.workspace_id &&
      (await impactStore(trx, workspace.id).put(data.incident_id, {
        affectedCustomers: data.affected_customers,
        mrr: data.mrr,
        asOf: parseTimestamp(data.as_of) as string,
      }));
    if (!isStored) ignored(type);
  },
});
