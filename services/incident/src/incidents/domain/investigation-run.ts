import { instant } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';
import { z } from 'zod';

const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled', 'unavailable'] as const;

/** The investigation run that started last. */
export interface InvestigationRun {
  runId: string;
  status: (typeof RUN_STATUSES)[number];
  startedAt: Instant;
  completedAt: Instant | null;
}

/** What an incident shows of its runs. */
export const investigationSummary = z.strictObject({
  run_count: z.int().min(0).meta({ description: 'Number of runs' }),
  latest_run: z
    .strictObject({
      status: z.enum(RUN_STATUSES).meta({ description: 'State of the run, as the other system reported it' }),
      started_at: instant.meta({ description: 'When the run started' }),
      completed_at: instant.optional().meta({ description: 'When the run ended; absent until then' }),
    })
    .nullable()
    .meta({ description: 'The run that started last; null: not known' }),
});

/** The state of a run as an event reported it. */
export interface RunReport extends InvestigationRun {
  reportedAt: Instant;
}

/** The progress of a run by its status. */
const progress = ({ status }: InvestigationRun) => (status === 'queued' ? 0 : status === 'running' ? 1 : 2);

/** Whether a report is newer than the stored one; of two reports of the same time, the one with more progress is newer. */
export function isNewer(report: RunReport, current: RunReport | undefined): boolean {
  if (current === undefined) return true;
  if (report.reportedAt !== current.reportedAt) return report.reportedAt > current.reportedAt;
  return progress(report) >= progress(current);
}
