import { checkWritable } from '../domain/lifecycle.ts';
import { incidentStore } from '../store/incident-store.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { authorOf, type Caller, type Tools } from './context.ts';
import { saveTimeline } from './save-timeline.ts';

export interface DeleteTimelineEventCommand extends Caller {
  id: number;
}

/**
 * Takes an event out of an active incident's timeline, for good (contract: Timeline).
 * @throws DomainError `not_found`, `invalid_resource_state`, in this order
 */
export async function deleteTimelineEvent(tools: Tools, command: DeleteTimelineEventCommand): Promise<void> {
  const { principal, id } = command;
  const workspaceId = principal.workspace.id;
  await tools.database.transaction(async (trx) => {
    const events = timelineStore(trx, workspaceId);
    const before = await incidentStore(trx, workspaceId).getForUpdate(await events.getIncidentId(id));
    // Gone meanwhile, if somebody else was faster.
    await events.getForUpdate(id);
    checkWritable(before);
    await events.delete(id);
    await saveTimeline({ trx, author: authorOf(command), before, more: -1, now: tools.clock.now() });
  });
  tools.wakeRelay();
}
