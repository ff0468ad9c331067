import { quotaOf } from '@tocsin/contracts';
import { type IdempotencyKey, checkRevision } from '@tocsin/http';
import { pipeline, query, type Statement } from '@tocsin/postgres';
import type { Caller } from '@tocsin/resources';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import {
  newTimelineEvent,
  type TimelineEvent,
  type TimelineEventProperties,
  edit,
  checkRoomForEvent,
} from './domain/timeline-event.ts';
import { lockIncident, requireIncident, incidentStore } from '../incidents/store/incident-store.ts';
import { type Attachment, attachmentsOf } from './store/attachment-store.ts';
import { insertEvent, NEXT_EVENT_ID, reportingUnknownGroup, timelineStore } from './store/timeline-store.ts';
import { formerEventStore, moveToDeleted, restoreAttachments } from './store/former-event-store.ts';
import { authorOf, creatorOf, editOf, recordedActor } from '../incidents/save-incident.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { saveTimeline } from './save-timeline.ts';

interface CreateTimelineEventCommand extends Caller {
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
  dependencies: CommandDependencies,
  command: CreateTimelineEventCommand,
): Promise<string> {
  const { principal, incidentId, properties, key, render } = command;
  const { workspace } = principal;
  // An invalid body is reported before anything about the incident.
  const created = newTimelineEvent({
    incidentId,
    source: 'api',
    ...creatorOf(command),
    properties: { startedAt: dependencies.clock.now(), ...properties },
  });
  return runCommand(dependencies, {
    workspace,
    transaction: async (trx, { checkStorage }) => {
      await key?.lock(trx);
      const [incidents, ids] = await pipeline(trx, [lockIncident(workspace.id, incidentId), NEXT_EVENT_ID]);
      const before = requireIncident(incidents);
      checkWritable(before);
      checkRoomForEvent(before, quotaOf(workspace, 'timeline_events'));
      checkStorage('addition');
      const [{ id }] = ids as [{ id: number }];
      const event = { ...created, id };
      const text = render(event);
      const also: Statement[] = [insertEvent(workspace.id, event)];
      if (key !== undefined) also.push(key.outcome({ status: 201, text, revision: event.revision }));
      const timeline = [{ type: 'timeline_event.created', event }] as const;
      const now = dependencies.clock.now();
      await reportingUnknownGroup(
        saveTimeline({ trx, author: authorOf(command), before, timeline, also, now, commit: true }),
      );
      return text;
    },
  });
}

interface UpdateTimelineEventCommand extends Caller {
  id: number;
  expectedRevision: number;
  changes: Partial<TimelineEventProperties>;
}

/**
 * Updates properties of a timeline event of an active incident (contract: Timeline). Values equal to the stored ones change
 * nothing. The attachments are read before the COMMIT, so that nothing which may fail comes after it.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateTimelineEvent(
  dependencies: CommandDependencies,
  command: UpdateTimelineEventCommand,
): Promise<{ event: TimelineEvent; attachments: Attachment[] }> {
  const { principal, id, expectedRevision, changes } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    transaction: async (trx, { checkStorage }) => {
      const events = timelineStore(trx, workspace.id);
      // The incident is always locked first; another order could cause a deadlock.
      const before = await incidentStore(trx, workspace.id).getForUpdate(await events.getIncidentId(id));
      const event = await events.getForUpdate(id);
      checkWritable(before);
      checkRevision(event.revision, expectedRevision);
      const changed = edit(event, changes);
      const attachments = await attachmentsOf(trx, id);
      if (changed === event) return { event, attachments };

      const author = authorOf(command);
      const now = dependencies.clock.now();
      const edited = { ...changed, ...editOf(author, now) };
      // What the event was stays.
      checkStorage('addition');
      await events.update(edited);
      const timeline = [{ type: 'timeline_event.updated', event: edited, was: event }] as const;
      await saveTimeline({ trx, author, before, timeline, now });
      return { event: edited, attachments };
    },
  });
}

interface TimelineEventCommand extends Caller {
  id: number;
}

/**
 * Deletes an event of an active incident, which can be restored (contract: Timeline).
 * @throws DomainError `not_found`, `invalid_resource_state`, in this order
 */
export async function deleteTimelineEvent(
  dependencies: CommandDependencies,
  command: TimelineEventCommand,
): Promise<void> {
  const { principal, id } = command;
  const { workspace } = principal;
  await runCommand(dependencies, {
    workspace,
    transaction: async (trx) => {
      const events = timelineStore(trx, workspace.id);
      const before = await incidentStore(trx, workspace.id).getForUpdate(await events.getIncidentId(id));
      // Throws if another request has deleted the event in the meantime.
      const event = await events.getForUpdate(id);
      checkWritable(before);
      const author = authorOf(command);
      const now = dependencies.clock.now();
      await query(trx, moveToDeleted(id, { ...recordedActor(author), at: now }));
      const timeline = [{ type: 'timeline_event.deleted', event }] as const;
      await saveTimeline({ trx, author, before, timeline, now });
    },
  });
}

/**
 * Restores a deleted event of an active incident as it was, without its group if that is gone (contract: Timeline).
 * @throws DomainError `not_found`, `invalid_resource_state`, in this order
 */
export async function restoreTimelineEvent(
  dependencies: CommandDependencies,
  command: TimelineEventCommand,
): Promise<{ event: TimelineEvent; attachments: Attachment[] }> {
  const { principal, id } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    transaction: async (trx) => {
      const former = formerEventStore(trx, workspace.id);
      const { incidentId } = await former.getDeleted(id);
      const before = await incidentStore(trx, workspace.id).getForUpdate(incidentId);
      // Throws if another request has restored the event in the meantime.
      const { deletedAt, ...deleted } = await former.getDeleted(id);
      checkWritable(before);
      checkRoomForEvent(before, quotaOf(workspace, 'timeline_events'));
      const event = { ...deleted, revision: deleted.revision + 1 };
      await reportingUnknownGroup(pipeline(trx, [insertEvent(workspace.id, event), restoreAttachments(id)]));
      const timeline = [{ type: 'timeline_event.restored', event, deletedAt }] as const;
      await saveTimeline({ trx, author: authorOf(command), before, timeline, now: dependencies.clock.now() });
      return { event, attachments: await attachmentsOf(trx, id) };
    },
  });
}
