import { checkRevision } from '@tocsin/http';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { bytesOf } from '../storage/domain/storage-quota.ts';
import { edit, type TimelineEvent, type TimelineEventProperties } from './domain/timeline-event.ts';
import { textsOf } from './domain/timeline-quota.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { timelineStore } from './store/timeline-store.ts';
import type { Caller } from '@tocsin/resources';
import { authorOf } from '../incidents/author.ts';
import type { Dependencies } from '../dependencies.ts';
import { saveTimeline } from './save-timeline.ts';

export interface UpdateTimelineEventCommand extends Caller {
  id: number;
  expectedRevision: number;
  changes: Partial<TimelineEventProperties>;
}

/**
 * Updates properties of a timeline event of an active incident (contract: Timeline). Values equal to the stored ones change
 * nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateTimelineEvent(
  dependencies: Dependencies,
  command: UpdateTimelineEventCommand,
): Promise<TimelineEvent> {
  const { principal, id, expectedRevision, changes } = command;
  const workspaceId = principal.workspace.id;
  let growth = 0;
  const updated = await dependencies.database.transaction(async (trx) => {
    const events = timelineStore(trx, workspaceId);
    // The incident is always locked first; another order could cause a deadlock.
    const before = await incidentStore(trx, workspaceId).getForUpdate(await events.getIncidentId(id));
    const event = await events.getForUpdate(id);
    checkWritable(before);
    checkRevision(event.revision, expectedRevision);
    const edited = edit(event, changes);
    if (edited === event) return event;

    growth = bytesOf(textsOf(edited)) - bytesOf(textsOf(event));
    dependencies.storage.check(principal.workspace, { kind: 'addition', growth });
    await events.update(edited);
    const timeline = [{ type: 'timeline_event.updated', event: edited }] as const;
    await saveTimeline({ trx, author: authorOf(command), before, timeline, now: dependencies.clock.now() });
    return edited;
  });
  dependencies.storage.add(workspaceId, { bytes: growth });
  dependencies.wakeRelay();
  return updated;
}
