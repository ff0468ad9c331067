import type { Incident } from '../domain/incident.ts';
import { summaryOf } from '../domain/timeline-event.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { type IncidentChange, saveIncident } from './save-incident.ts';

interface TimelineChange extends Pick<IncidentChange, 'trx' | 'author' | 'before' | 'now'> {
  /** How many events this transaction has added; negative for those that it removed, 0 for one that it changed. */
  more: number;
  /** What else changes about the incident. */
  change?: Partial<Incident>;
}

/**
 * Saves what an incident tells of its timeline, which this transaction has changed. The incident must be locked: its figures
 * are true because its timeline changes under that lock only.
 */
export async function saveTimeline({ more, change = {}, ...saving }: TimelineChange): Promise<Incident> {
  const { trx, before } = saving;
  const latest = await timelineStore(trx, before.workspaceId).findLatest(before.id);
  const figures = {
    eventCount: before.eventCount + more,
    lastEventAt: latest?.startedAt ?? null,
    lastEventSummary: latest === undefined ? '' : summaryOf(latest),
  };
  return saveIncident({ ...saving, change: { ...change, ...figures }, timelineChanged: true });
}
