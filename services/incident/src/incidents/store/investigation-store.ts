import { type Knex, query } from '@tocsin/postgres';
import type { InvestigationRun, RunReport } from '../domain/investigation-run.ts';

/** A select list whose rows are reports. */
const SELECTION = `run_id as "runId", status, started_at as "startedAt", completed_at as "completedAt",
  told_at as "reportedAt"`;

/** Stores the investigation runs of one incident. */
export function investigationStore(trx: Knex.Transaction, of: { workspaceId: number; incidentId: number }) {
  return {
    /** Locks the incident to serialize updates of its runs. @returns false if the workspace has no such incident */
    async lock(): Promise<boolean> {
      const incidents = await query(trx, {
        name: 'lock-investigated-incident',
        text: 'select id from incidents where workspace_id = $1 and id = $2 for update',
        values: [of.workspaceId, of.incidentId],
      });
      return incidents.length === 1;
    },

    async find(runId: string): Promise<RunReport | undefined> {
      const [run] = await query<RunReport>(trx, {
        name: 'find-investigation-run',
        text: `select ${SELECTION} from investigation_runs
          where workspace_id = $1 and incident_id = $2 and run_id = $3`,
        values: [of.workspaceId, of.incidentId, runId],
      });
      return run;
    },

    async put({ runId, status, startedAt, completedAt, reportedAt }: RunReport): Promise<void> {
      await query(trx, {
        name: 'put-investigation-run',
        text: `insert into investigation_runs
            (workspace_id, incident_id, run_id, status, started_at, completed_at, told_at)
          values ($1, $2, $3, $4, $5, $6, $7)
          on conflict (workspace_id, incident_id, run_id) do update set status = excluded.status,
            started_at = excluded.started_at, completed_at = excluded.completed_at, told_at = excluded.told_at`,
        values: [of.workspaceId, of.incidentId, runId, status, startedAt, completedAt, reportedAt],
      });
    },

    /** Updates the incident's count of runs and its latest run. */
    async updateSummary(): Promise<void> {
      const [latest] = await query<RunReport & { count: number }>(trx, {
        name: 'find-latest-investigation-run',
        text: `select ${SELECTION}, count(run_id) over () as count from investigation_runs
          where workspace_id = $1 and incident_id = $2 order by started_at desc, run_id desc limit 1`,
        values: [of.workspaceId, of.incidentId],
      });
      if (latest === undefined) return;
      const { runId, status, startedAt, completedAt, count } = latest;
      const run = { runId, status, startedAt, completedAt } satisfies InvestigationRun;
      await query(trx, {
        name: 'set-latest-investigation-run',
        text: 'update incidents set latest_run = $3, run_count = $4 where workspace_id = $1 and id = $2',
        values: [of.workspaceId, of.incidentId, JSON.stringify(run), count],
      });
    },
  };
}
