import type { Incident } from '../domain/incident.ts';
import { summaryOf } from '../domain/timeline-event.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { type IncidentChange, saveIncident } from './save-incident.ts';

interface TimelineChange extends Pick<IncidentChange, 'trx' | 'author' | 'before' | 'now'> {
  /** What this transaction did to timeline events. */
  timeline: NonNullable<IncidentChange['timeline']>;
  /** Other changes of the incident. */
  change?: Partial<Incident>;
}

const COUNTED = { 'timeline_event.created': 1, 'timeline_event.updated': 0, 'timeline_event.deleted': -1 } as const;

/**
 * Updates the incident's timeline summary after this transaction changed the timeline. The incident must be locked: the
 * summary is correct because the timeline changes only under that lock.
 */
export async function saveTimeline({ change = {}, ...options }: TimelineChange): Promise<Incident> {
  const { trx, before, timeline } = options;
  const latest = await timelineStore(trx, before.workspaceId).findLatest(before.id);
  const summary = {
    eventCount: timeline.reduce((count, { type }) => count + COUNTED[type], before.eventCount),
    lastEventAt: latest?.startedAt ?? null,
    lastEventSummary: latest === undefined ? '' : summaryOf(latest),
  };
  return saveIncident({ ...options, change: { ...change, ...summary } });
}
