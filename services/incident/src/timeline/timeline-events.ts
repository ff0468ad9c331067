/**
 * `timeline` is the events of an incident, with their files, groups and former revisions (contract: Timeline). A
 * command locks the incident first and then the event, and a timeline changes only under the lock of its incident: so
 * the count of events and the last event, which the incident has (`change-timeline.ts`), are right. Each change raises
 * the incident's revision once, and commits with an entry of the changelog and an event in the outbox. Pictures that an
 * event gets are locked after it. An edit keeps what the event was, and a deletion moves it to the former events, from where a restoration brings it back; nothing
 * removes these. The quota of events and of storage is checked under the lock. `recount-timeline.ts` writes the summary
 * again, for the doctor. Files have signed addresses, which expire (`http/attachment-urls.ts`).
 */
import { quotaOf } from '@tocsin/schemas';
import { checkRevision, jsonEqual, type KeyedOutcome } from '@tocsin/http';
import { type Knex, pipeline, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Caller } from '@tocsin/versioned-resources';
import type { Incident } from '../incidents/domain/incident.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { authorOf, creatorOf, editOf, recordedActor } from '../incidents/save-incident.ts';
import { lockIncident, requireIncident, incidentStore } from '../incidents/store/incident-store.ts';
import { checkPictures } from '../pictures/domain/picture.ts';
import { lockPictures } from '../pictures/store/picture-store.ts';
import { changeTimeline } from './change-timeline.ts';
import {
  newTimelineEvent,
  type TimelineEvent,
  type TimelineEventInput,
  edit,
  checkRoomForEvent,
} from './domain/timeline-event.ts';
import { type Attachment, attachmentOf, isPicture, selectAttachments, setPictures } from './store/attachment-store.ts';
import { formerEventStore, moveToDeleted, restoreAttachments } from './store/former-event-store.ts';
import {
  explainUnknownGroup,
  insertEvent,
  latestEvent,
  NEXT_EVENT_ID,
  timelineStore,
  updateEvent,
} from './store/timeline-store.ts';

/** An event as a command leaves it, with its files. */
export interface WholeEvent {
  event: TimelineEvent;
  attachments: Attachment[];
}

interface CreateTimelineEventCommand extends Caller {
  incidentId: number;
  properties: TimelineEventInput & { body: string };
  /** IDs of its pictures. */
  pictures: readonly number[];
  /** Of the incident; undefined: it stays. */
  nextUpdateAt: Instant | null | undefined;
  outcome: KeyedOutcome<WholeEvent> | undefined;
}

/**
 * Adds an event to an active incident's timeline (contract: Timeline).
 * @throws DomainError `not_found`, `invalid_resource_state`, `invalid_request`, in this order
 */
export async function createTimelineEvent(
  dependencies: CommandDependencies,
  command: CreateTimelineEventCommand,
): Promise<WholeEvent> {
  const { principal, incidentId, nextUpdateAt, outcome } = command;
  const { workspace } = principal;
  // An invalid body is reported before anything about the incident.
  const properties = { startedAt: dependencies.clock.now(), ...command.properties };
  const created = newTimelineEvent({ incidentId, source: 'api', ...creatorOf(command), properties });
  return runCommand(dependencies, {
    workspace,
    outcome,
    explains: explainUnknownGroup,
    reads: async (trx) => {
      const [incidents, [next]] = await pipeline(trx, [lockIncident(workspace.id, incidentId), NEXT_EVENT_ID]);
      const before = requireIncident(incidents);
      const pictures = await findPictures(trx, before, command.pictures);
      return { before, id: (next as { id: number }).id, pictures };
    },
    decides: ({ before, id, pictures }, { checkStorage, now }) => {
      checkWritable(before);
      checkRoomForEvent(before, quotaOf(workspace, 'timeline_events'));
      checkStorage('addition');
      checkPictures(command.pictures, pictures);
      const attachments = pictures.map((picture) => attachmentOf(id, picture));
      const event = { ...created, id };
      const timeline = [{ type: 'timeline_event.created', event }] as const;
      const change = nextUpdateAt === undefined ? {} : { nextUpdateAt };
      const { statements } = changeTimeline({ author: authorOf(command), before, timeline, change, now });
      const files = attachments.length === 0 ? [] : [setPictures(workspace.id, event, { attachments, now })];
      return {
        stores: [insertEvent(workspace.id, event), ...files, ...statements],
        answer: () => ({ event, attachments }),
      };
    },
  });
}

/** Locks those of some pictures that an incident has. */
const findPictures = async (trx: Knex.Transaction, { workspaceId, id }: Incident, ids: readonly number[]) =>
  ids.length === 0 ? [] : query(trx, lockPictures(workspaceId, id, ids));

interface UpdateTimelineEventCommand extends Caller {
  id: number;
  expectedRevision: number;
  changes: TimelineEventInput;
  /** IDs of all its pictures; undefined: they stay. */
  pictures: readonly number[] | undefined;
}

/**
 * Updates properties of a timeline event of an active incident (contract: Timeline). Values equal to the stored ones change
 * nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateTimelineEvent(
  dependencies: CommandDependencies,
  command: UpdateTimelineEventCommand,
): Promise<WholeEvent> {
  const { principal, id, expectedRevision, changes } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    explains: explainUnknownGroup,
    reads: async (trx) => {
      const events = timelineStore(trx, workspace.id);
      // The incident is always locked first; another order could cause a deadlock.
      const before = await incidentStore(trx, workspace.id).getForUpdate(await events.getIncidentId(id));
      const event = await events.getForUpdate(id);
      const [attachments, [latestOther]] = await pipeline(trx, [
        selectAttachments(workspace.id, [id]),
        latestEvent(workspace.id, before.id, id),
      ]);
      const pictures = await findPictures(trx, before, command.pictures ?? []);
      return { before, event, attachments, pictures, latestOther };
    },
    decides: ({ before, event: was, attachments: files, pictures, latestOther }, { checkStorage, now }) => {
      checkWritable(before);
      checkRevision(was.revision, expectedRevision);
      checkPictures(command.pictures ?? [], pictures, id);
      const attachments =
        command.pictures === undefined
          ? files
          : [...files.filter((file) => !isPicture(file)), ...pictures.map((picture) => attachmentOf(id, picture))];
      const hasOthers = !jsonEqual(idsOf(attachments), idsOf(files));
      const changed = edit(was, changes, hasOthers);
      if (changed === was) return { stores: [], answer: () => ({ event: was, attachments: files }) };
      // What the event was stays.
      checkStorage('addition');
      const author = authorOf(command);
      const event = { ...changed, ...editOf(author, now) };
      const timeline = [
        { type: 'timeline_event.updated', event, was, files: { before: namesOf(files), after: namesOf(attachments) } },
      ] as const;
      const { statements } = changeTimeline({ author, before, timeline, latestOther, now });
      const kept = attachments.filter(isPicture);
      return {
        stores: [
          ...updateEvent(workspace.id, event),
          ...(hasOthers ? [setPictures(workspace.id, event, { attachments: kept, now })] : []),
          ...statements,
        ],
        answer: () => ({ event, attachments: attachments.toSorted((one, other) => one.id - other.id) }),
      };
    },
  });
}

const idsOf = (files: readonly Attachment[]) => files.map((file) => file.id).toSorted((one, other) => one - other);

const namesOf = (files: readonly Attachment[]) => files.map(({ filename }) => filename);

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
    reads: async (trx) => {
      const events = timelineStore(trx, workspace.id);
      const before = await incidentStore(trx, workspace.id).getForUpdate(await events.getIncidentId(id));
      // Throws if another request has deleted the event in the meantime.
      const event = await events.getForUpdate(id);
      const [latestOther] = await query(trx, latestEvent(workspace.id, before.id, id));
      return { before, event, latestOther };
    },
    decides: ({ before, event, latestOther }, { now }) => {
      checkWritable(before);
      const author = authorOf(command);
      const timeline = [{ type: 'timeline_event.deleted', event }] as const;
      const { statements } = changeTimeline({ author, before, timeline, latestOther, now });
      return {
        stores: [moveToDeleted(workspace.id, id, { ...recordedActor(author), at: now }), ...statements],
        answer: () => undefined,
      };
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
): Promise<WholeEvent> {
  const { principal, id } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    explains: explainUnknownGroup,
    reads: async (trx) => {
      const former = formerEventStore(trx, workspace.id);
      const { incidentId } = await former.getDeleted(id);
      const before = await incidentStore(trx, workspace.id).getForUpdate(incidentId);
      // Throws if another request has restored the event in the meantime.
      const deleted = await former.getDeleted(id);
      const [latestOther] = await query(trx, latestEvent(workspace.id, incidentId, id));
      return { before, deleted, latestOther };
    },
    decides: ({ before, deleted: { deletedAt, ...deleted }, latestOther }, { now }) => {
      checkWritable(before);
      checkRoomForEvent(before, quotaOf(workspace, 'timeline_events'));
      const event = { ...deleted, revision: deleted.revision + 1 };
      const timeline = [{ type: 'timeline_event.restored', event, deletedAt }] as const;
      const author = authorOf(command);
      const { statements } = changeTimeline({ author, before, timeline, latestOther, now });
      return {
        stores: [
          insertEvent(workspace.id, event),
          restoreAttachments(workspace.id, id),
          ...statements,
          selectAttachments(workspace.id, [id]),
        ],
        answer: (rows) => ({ event, attachments: rows.at(-1) as Attachment[] }),
      };
    },
  });
}
