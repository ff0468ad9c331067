import { parseTimestamp } from '@tocsin/contracts';
import type { EventHandlers } from '@tocsin/messaging';
import { impactStore } from '../store/impact-store.ts';
import type { CountIgnored } from './ignored.ts';

/**
 * Keeps what an incident costs, as the system that knows the customers tells it. It is computed data: the incident's
 * revision stays, so that news of it never fails somebody's PATCH.
 */
export const customerImpactHandlers = (ignored: CountIgnored): EventHandlers => ({
  'customer-impact.updated': async ({ type, workspace, data }, trx) => {
    const known =
      workspace.id === data.workspace_id &&
      (await impactStore(trx, workspace.id).put(data.incident_id, {
        affectedCustomers: data.affected_customers,
        mrr: data.mrr,
        asOf: parseTimestamp(data.as_of) as string,
      }));
    if (!known) ignored(type);
  },
});
