import { quotaOf } from '@tocsin/contracts';
import type { IdempotencyKey } from '@tocsin/http';
import { runPipeline } from '@tocsin/postgres';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { bytesOf } from '../storage/domain/storage-quota.ts';
import { newTimelineEvent, type TimelineEvent, type TimelineEventProperties } from './domain/timeline-event.ts';
import { checkRoomForEvent, textsOf } from './domain/timeline-quota.ts';
import { lockIncident, requireIncident } from '../incidents/store/incident-store.ts';
import { insertEvent, NEXT_EVENT_ID, reportingUnknownGroup } from './store/timeline-store.ts';
import type { Caller } from '@tocsin/resources';
import { actorOf, authorOf } from '../incidents/author.ts';
import type { Dependencies } from '../dependencies.ts';
import { saveTimeline } from './save-timeline.ts';

export interface CreateTimelineEventCommand extends Caller {
  incidentId: number;
  properties: Partial<TimelineEventProperties> & { body: string };
  key: IdempotencyKey | undefined;
  render: (event: TimelineEvent) => string;
}

/**
 * Adds an event to an active incident's timeline (contract: Timeline). The outcome of the Idempotency-Key commits with it.
 * @returns the response body
 * @throws DomainError `not_found`, `invalid_resource_state`, `invalid_request`, in this order
 */
export async function createTimelineEvent(
  dependencies: Dependencies,
  command: CreateTimelineEventCommand,
): Promise<string> {
  const { principal, incidentId, properties, key, render } = command;
  const workspaceId = principal.workspace.id;
  // An invalid body is reported before anything about the incident.
  const created = newTimelineEvent({
    incidentId,
    source: 'api',
    createdBy: actorOf(command),
    properties: { startedAt: dependencies.clock.now(), ...properties },
  });
  const bytes = bytesOf(textsOf(created));
  const text = await dependencies.database.transaction(async (trx) => {
    await key?.lock(trx);
    const [incidents, ids] = await runPipeline(trx, [lockIncident(workspaceId, incidentId), NEXT_EVENT_ID]);
    const before = requireIncident(incidents);
    checkWritable(before);
    checkRoomForEvent(before, quotaOf(principal.workspace, 'timeline_events'));
    dependencies.storage.check(principal.workspace, { kind: 'addition', growth: bytes });
    const [{ id }] = ids as [{ id: number }];
    const event = { ...created, id };
    const rendered = render(event);
    const also = [insertEvent(workspaceId, event)];
    if (key !== undefined) also.push(key.outcome({ status: 201, text: rendered, revision: event.revision }));
    const timeline = [{ type: 'timeline_event.created', event }] as const;
    const now = dependencies.clock.now();
    await reportingUnknownGroup(
      saveTimeline({ trx, author: authorOf(command), before, timeline, also, now, commit: true }),
    );
    return rendered;
  });
  const keyBytes = key === undefined ? 0 : Buffer.byteLength(text);
  dependencies.storage.add(workspaceId, { bytes, keyBytes });
  dependencies.wakeRelay();
  return text;
}
