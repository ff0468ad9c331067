import type { Knex } from '@tocsin/runtime';
import type { Incident } from '../domain/incident.ts';
import { summaryOf } from '../domain/timeline-event.ts';
import { timelineStore } from '../store/timeline-store.ts';

/**
 * What an incident tells of its timeline, after this transaction has added or removed so many events or changed one. The
 * incident must be locked: its figures are true because its timeline changes under that lock only.
 */
export async function timelineFigures(
  trx: Knex.Transaction,
  incident: Incident,
  more: number,
): Promise<Pick<Incident, 'eventCount' | 'lastEventAt' | 'lastEventSummary'>> {
  const latest = await timelineStore(trx, incident.workspaceId).findLatest(incident.id);
  return {
    eventCount: incident.eventCount + more,
    lastEventAt: latest?.startedAt ?? null,
    lastEventSummary: latest === undefined ? '' : summaryOf(latest),
  };
}
