import type { Instant } from '@tocsin/runtime';
import type { InvestigationRun } from './incident.ts';

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
