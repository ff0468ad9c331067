import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { InvestigationRun, RunReport } from '../domain/investigation-run.ts';

interface RunRow {
  incident_id: number;
  run_id: string;
  status: InvestigationRun['status'];
  started_at: Instant;
  completed_at: Instant | null;
  told_at: Instant;
}

const COLUMNS: (keyof RunRow)[] = ['run_id', 'status', 'started_at', 'completed_at', 'told_at'];

const toRun = (row: RunRow): RunReport => ({
  runId: row.run_id,
  status: row.status,
  startedAt: row.started_at,
  completedAt: row.completed_at,
  reportedAt: row.told_at,
});

/** Stores the investigation runs of one incident. */
export function investigationStore(trx: Knex.Transaction, of: { workspaceId: number; incidentId: number }) {
  const incident = () => trx('incidents').where({ workspace_id: of.workspaceId, id: of.incidentId });
  const runs = () => trx<RunRow>('investigation_runs').where('incident_id', of.incidentId);
  return {
    /** Locks the incident to serialize updates of its runs. @returns false if the workspace has no such incident */
    lock: async (): Promise<boolean> => (await incident().forUpdate().first('id')) !== undefined,

    async find(runId: string): Promise<RunReport | undefined> {
      const row = await runs().where('run_id', runId).first(COLUMNS);
      return row && toRun(row);
    },

    async put(run: RunReport): Promise<void> {
      await trx('investigation_runs')
        .insert({
          incident_id: of.incidentId,
          run_id: run.runId,
          status: run.status,
          started_at: run.startedAt,
          completed_at: run.completedAt,
          told_at: run.reportedAt,
        })
        .onConflict(['incident_id', 'run_id'])
        .merge();
    },

    /** Updates the incident's count of runs and its latest run. */
    async updateSummary(): Promise<void> {
      const latest = await runs()
        .orderBy([
          { column: 'started_at', order: 'desc' },
          { column: 'run_id', order: 'desc' },
        ])
        .first(COLUMNS);
      if (latest === undefined) return;
      const [counted] = await runs().count<{ total: number }[]>({ total: 'run_id' });
      const { runId, status, startedAt, completedAt } = toRun(latest);
      await incident().update({
        latest_run: JSON.stringify({ runId, status, startedAt, completedAt } satisfies InvestigationRun),
        run_count: counted?.total,
      });
    },
  };
}
