import type { IdempotencyClaim } from '@tocsin/http';
import { checkWritable } from '../domain/lifecycle.ts';
import { record, type TimelineEvent } from '../domain/timeline-event.ts';
import { incidentStore } from '../store/incident-store.ts';
import { timelineStore } from '../store/timeline-store.ts';
import { actorOf, authorOf, type Caller, type Tools } from './context.ts';
import { saveTimeline } from './save-timeline.ts';
import { timelinePropertiesOf, type WireTimelineProperties } from './timeline-properties.ts';

export interface CreateTimelineEventCommand extends Caller {
  incidentId: number;
  body: WireTimelineProperties & { body: string };
  claim: IdempotencyClaim | undefined;
  render: (event: TimelineEvent) => string;
}

/**
 * Adds an event to an active incident's timeline (contract: Timeline); the outcome of its Idempotency-Key commits with it.
 * @returns the answer's text
 * @throws DomainError `not_found`, `invalid_resource_state`, `invalid_request`, in this order
 */
export async function createTimelineEvent(tools: Tools, command: CreateTimelineEventCommand): Promise<string> {
  const { principal, incidentId, body, claim, render } = command;
  const workspaceId = principal.workspace.id;
  // What is wrong with the body is told before anything about the incident.
  const recorded = record({
    incidentId,
    source: 'api',
    by: actorOf(command),
    properties: { startedAt: tools.clock.now(), ...timelinePropertiesOf(body), body: body.body },
  });
  const text = await tools.database.transaction(async (trx) => {
    const before = await incidentStore(trx, workspaceId).getForUpdate(incidentId);
    checkWritable(before);
    const event = await timelineStore(trx, workspaceId).insert(recorded);
    await saveTimeline({ trx, author: authorOf(command), before, more: 1, now: tools.clock.now() });
    const answer = render(event);
    await claim?.finish(trx, { status: 201, text: answer, revision: event.revision });
    return answer;
  });
  tools.wakeRelay();
  return text;
}
