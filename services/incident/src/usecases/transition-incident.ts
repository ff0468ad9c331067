import { checkRevision } from '@tocsin/http';
import type { Incident } from '../domain/incident.ts';
import { checkWritable, type Transition } from '../domain/lifecycle.ts';
import { record, type TimelineEvent } from '../domain/timeline-event.ts';
import { incidentStore } from '../store/incident-store.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { actorOf, authorOf, type Caller, type Tools } from './context.ts';
import { saveIncident } from './save-incident.ts';
import { saveTimeline } from './save-timeline.ts';

export interface TransitionCommand extends Caller {
  id: number;
  /** Where the client says which revision it decided upon. */
  expectedRevision: number | undefined;
  /** Becomes a timeline event unless it is blank. */
  note: string;
}

export interface Transitioned {
  incident: Incident;
  /** The note's. */
  event: TimelineEvent | undefined;
}

/**
 * Carries out a lifecycle operation on an active incident, with its note, as one change (contract: Lifecycle).
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, in this order; then what the transition throws
 */
export async function transitionIncident(
  tools: Tools,
  command: TransitionCommand,
  { transition, noteType }: { transition: Transition; noteType: string },
): Promise<Transitioned> {
  const { principal, id, expectedRevision, note } = command;
  const { workspace } = principal;
  const { statuses } = await tools.configurations.get(workspace);
  const done = await tools.database.transaction(async (trx) => {
    const before = await incidentStore(trx, workspace.id).getForUpdate(id);
    checkWritable(before);
    if (expectedRevision !== undefined) checkRevision(before.revision, expectedRevision, 'expected_revision');
    const now = tools.clock.now();
    const change = transition(before, { statuses, now });
    const saving = { trx, author: authorOf(command), before, now };
    if (note.trim() === '') return { incident: await saveIncident({ ...saving, change }), event: undefined };

    const event = await timelineStore(trx, workspace.id).insert(
      record({
        incidentId: id,
        source: 'api',
        by: actorOf(command),
        properties: { startedAt: now, type: noteType, body: note },
      }),
    );
    return { incident: await saveTimeline({ ...saving, change, more: 1 }), event };
  });
  tools.wakeRelay();
  return done;
}
