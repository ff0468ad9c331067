import { checkWritable } from '../domain/lifecycle.ts';
import { incidentStore } from '../store/incident-store.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { authorOf, type Caller, type Tools } from './context.ts';
import { saveIncident } from './save-incident.ts';
import { timelineFigures } from './timeline-figures.ts';

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
    const change = await timelineFigures(trx, before, -1);
    await saveIncident({
      trx,
      author: authorOf(command),
      before,
      change,
      now: tools.clock.now(),
      timelineChanged: true,
    });
  });
  tools.wakeRelay();
}
