import { QUEUES, parseTimestamp } from '@tocsin/schemas';
import { Counter, type Metrics } from '@tocsin/runtime';
import type { EventHandlers } from '@tocsin/messaging';
import { impactStore } from '../store/impact-store.ts';
import { isNewer, type RunReport } from '../domain/investigation-run.ts';
import { investigationStore } from '../store/investigation-store.ts';

/** Counts an ignored event: one that names no incident of its workspace. */
type CountIgnored = (type: string) => void;

export function countIgnored(metrics: Metrics): CountIgnored {
  const counter = new Counter({
    name: 'tocsin_feed_events_ignored_total',
    help: 'Ignored feed events, which name no incident of their workspace, by type',
    labelNames: ['type'],
    registers: [metrics],
  });
  // A counter that appears with its first event hides that event from `rate` and `increase`.
  for (const type of QUEUES.incidentReports.bindings) counter.inc({ type }, 0);
  return (type) => counter.inc({ type });
}

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

/**
 * Stores the investigation runs of incidents as an external system reports them. Like customer impact, they do not raise the
 * incident's revision.
 */
export const investigationRunHandlers = (ignored: CountIgnored): EventHandlers => ({
  'investigation.run.updated': async ({ type, workspace, occurred_at, data }, trx) => {
    const store = investigationStore(trx, { workspaceId: workspace.id, incidentId: data.incident_id });
    if (workspace.id !== data.workspace_id || !(await store.lock())) {
      ignored(type);
      return;
    }
    const run: RunReport = {
      runId: data.run_id,
      status: data.status,
      startedAt: parseTimestamp(data.started_at) as string,
      completedAt: data.completed_at === undefined ? null : (parseTimestamp(data.completed_at) as string),
      reportedAt: occurred_at,
    };
    if (!isNewer(run, await store.find(run.runId))) return;
    await store.put(run);
    await store.updateSummary();
  },
});
