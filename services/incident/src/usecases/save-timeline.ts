import type { Incident } from '../domain/incident.ts';
import { summaryOf } from '../domain/timeline-event.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { type IncidentChange, saveIncident } from './save-incident.ts';

interface TimelineChange extends Pick<IncidentChange, 'trx' | 'author' | 'before' | 'now'> {
  /** Events that this transaction added; negative if it deleted events, 0 if it changed one. */
  added: number;
  /** Other changes of the incident. */
  change?: Partial<Incident>;
}

/**
 * Updates the incident's timeline summary after this transaction changed the timeline. The incident must be locked: the
 * summary is correct because the timeline changes only under that lock.
 */
export async function saveTimeline({ added, change = {}, ...options }: TimelineChange): Promise<Incident> {
  const { trx, before } = options;
  const latest = await timelineStore(trx, before.workspaceId).findLatest(before.id);
  const summary = {
    eventCount: before.eventCount + added,
    lastEventAt: latest?.startedAt ?? null,
    lastEventSummary: latest === undefined ? '' : summaryOf(latest),
  };
  return saveIncident({ ...options, change: { ...change, ...summary }, timelineChanged: true });
}
