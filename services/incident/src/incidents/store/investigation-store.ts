import type { Knex } from '@tocsin/postgres';
import type { InvestigationRun, RunReport } from '../domain/investigation-run.ts';

/** The column of each property. */
const COLUMNS = {
  runId: 'run_id',
  status: 'status',
  startedAt: 'started_at',
  completedAt: 'completed_at',
  reportedAt: 'told_at',
} as const satisfies Record<keyof RunReport, string>;

/** Stores the investigation runs of one incident. */
export function investigationStore(trx: Knex.Transaction, of: { workspaceId: number; incidentId: number }) {
  const incident = () => trx('incidents').where({ workspace_id: of.workspaceId, id: of.incidentId });
  const runs = () => trx('investigation_runs').where('incident_id', of.incidentId);
  return {
    /** Locks the incident to serialize updates of its runs. @returns false if the workspace has no such incident */
    lock: async (): Promise<boolean> => (await incident().forUpdate().first('id')) !== undefined,

    find: async (runId: string): Promise<RunReport | undefined> =>
      runs().where('run_id', runId).first<RunReport | undefined>(COLUMNS),

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
        .first<RunReport | undefined>(COLUMNS);
      if (latest === undefined) return;
      const [counted] = await runs().count<{ total: number }[]>({ total: 'run_id' });
      const { runId, status, startedAt, completedAt } = latest;
      await incident().update({
        latest_run: JSON.stringify({ runId, status, startedAt, completedAt } satisfies InvestigationRun),
        run_count: counted?.total,
      });
    },
  };
}
