import type { Instant } from '@tocsin/runtime';
import type { InvestigationRun } from './incident.ts';

/** A run as somebody told of it at a time. */
export interface ToldRun extends InvestigationRun {
  toldAt: Instant;
}

/** How far a run is by its status. */
const progress = ({ status }: InvestigationRun) => (status === 'queued' ? 0 : status === 'running' ? 1 : 2);

/** Whether news of a run is newer than what is known of it; told at the same time, the further one is. */
export function isNewer(news: ToldRun, known: ToldRun | undefined): boolean {
  if (known === undefined) return true;
  if (news.toldAt !== known.toldAt) return news.toldAt > known.toldAt;
  return progress(news) >= progress(known);
}
