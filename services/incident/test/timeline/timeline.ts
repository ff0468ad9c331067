import type { Knex } from '@tocsin/postgres';
import { newTimelineEvent, type TimelineEvent } from '../../src/timeline/domain/timeline-event.ts';
import { incidentStore } from '../../src/incidents/store/incident-store.ts';
import { insertEvent, nextEventId } from '../../src/timeline/store/timeline-store.ts';
import { changeTimeline } from '../../src/timeline/change-timeline.ts';
import { save } from '../../src/incidents/save-incident.ts';

/** Inserts an event that the API cannot create: of any source and type, with AI context and evidence. */
export async function recordAnything(
  database: Knex,
  incidentId: number,
  event: Partial<TimelineEvent> & Pick<TimelineEvent, 'body'>,
): Promise<number> {
  return database.transaction(async (trx) => {
    const before = await incidentStore(trx, 1).getForUpdate(incidentId);
    const properties = { startedAt: '2026-11-20T09:00:00.000Z', body: event.body };
    const stored = {
      ...newTimelineEvent({ incidentId, source: 'api', createdBy: '42', createdByKey: null, properties }),
      ...event,
      id: await nextEventId(trx),
    };
    const author = {
      actor: '42',
      key: undefined,
      workspace: { id: 1, slug: 'acme', is_demo: false },
      requestId: 'test',
    };
    const timeline = [{ type: 'timeline_event.created', event: stored }] as const;
    const changed = changeTimeline({ author, before, timeline, now: properties.startedAt });
    await save(trx, changed, [insertEvent(1, stored)]);
    return stored.id;
  });
}
