import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { timelineStore } from './store/timeline-store.ts';
import type { Caller } from '@tocsin/resources';
import { authorOf } from '../incidents/author.ts';
import type { Dependencies } from '../dependencies.ts';
import { saveTimeline } from './save-timeline.ts';

export interface DeleteTimelineEventCommand extends Caller {
  id: number;
}

/**
 * Deletes an event of an active incident permanently (contract: Timeline).
 * @throws DomainError `not_found`, `invalid_resource_state`, in this order
 */
export async function deleteTimelineEvent(
  dependencies: Dependencies,
  command: DeleteTimelineEventCommand,
): Promise<void> {
  const { principal, id } = command;
  const workspaceId = principal.workspace.id;
  await dependencies.database.transaction(async (trx) => {
    const events = timelineStore(trx, workspaceId);
    const before = await incidentStore(trx, workspaceId).getForUpdate(await events.getIncidentId(id));
    // Throws if another request has deleted the event in the meantime.
    const event = await events.getForUpdate(id);
    checkWritable(before);
    await events.delete(id);
    const timeline = [{ type: 'timeline_event.deleted', event }] as const;
    await saveTimeline({ trx, author: authorOf(command), before, timeline, now: dependencies.clock.now() });
  });
  dependencies.wakeRelay();
}
