import { checkRevision } from '@tocsin/http';
import { checkWritable } from '../domain/lifecycle.ts';
import { edit, type TimelineEvent } from '../domain/timeline-event.ts';
import { incidentStore } from '../store/incident-store.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { authorOf, type Caller, type Tools } from './context.ts';
import { saveTimeline } from './save-timeline.ts';
import { timelinePropertiesOf, type WireTimelineProperties } from './timeline-properties.ts';

export interface UpdateTimelineEventCommand extends Caller {
  id: number;
  expectedRevision: number;
  body: WireTimelineProperties;
}

/**
 * Changes some properties of a timeline event of an active incident (contract: Timeline). Values equal to the stored ones
 * change nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateTimelineEvent(tools: Tools, command: UpdateTimelineEventCommand): Promise<TimelineEvent> {
  const { principal, id, expectedRevision, body } = command;
  const workspaceId = principal.workspace.id;
  const updated = await tools.database.transaction(async (trx) => {
    const events = timelineStore(trx, workspaceId);
    // The incident first, as everywhere: whoever locked the event before it could wait in a circle.
    const before = await incidentStore(trx, workspaceId).getForUpdate(await events.getIncidentId(id));
    const event = await events.getForUpdate(id);
    checkWritable(before);
    checkRevision(event.revision, expectedRevision);
    const edited = edit(event, timelinePropertiesOf(body));
    if (edited === event) return event;

    await events.update(edited);
    await saveTimeline({ trx, author: authorOf(command), before, more: 0, now: tools.clock.now() });
    return edited;
  });
  tools.wakeRelay();
  return updated;
}
