import { parseTimestamp } from '@tocsin/contracts';
import type { EventHandlers } from '@tocsin/messaging';
import { isNewer, type RunReport } from '../domain/investigation-run.ts';
import { investigationStore } from '../store/investigation-store.ts';
import type { CountIgnored } from './ignored-events.ts';

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
