import { quotaOf } from '@tocsin/contracts';
import { checkRevision } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Configuration } from '../configuration/domain/configuration.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import {
  archive,
  checkWritable,
  close,
  reopen,
  resolve,
  restore,
  type Transition,
} from '../incidents/domain/lifecycle.ts';
import { bytesOf } from '../storage/domain/storage-quota.ts';
import { newTimelineEvent, type TimelineEvent } from '../timeline/domain/timeline-event.ts';
import { checkRoomForNote } from '../timeline/domain/timeline-quota.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { lockWithConfiguration } from '../incidents/store/lock-with-configuration.ts';
import { timelineStore } from '../timeline/store/timeline-store.ts';
import type { Caller } from '@tocsin/resources';
import { actorOf, authorOf } from '../incidents/author.ts';
import type { Dependencies } from '../dependencies.ts';
import { saveIncident } from '../incidents/save-incident.ts';
import { saveTimeline } from '../timeline/save-timeline.ts';
import { withConfiguration } from '../configuration/with-configuration.ts';

export interface ArchiveCommand extends Caller {
  id: number;
  /** The revision that the client read; `undefined` skips the check. */
  expectedRevision: number | undefined;
}

export interface TransitionCommand extends ArchiveCommand {
  /** Becomes a timeline event unless it is blank. */
  note: string;
}

export interface TransitionResult {
  incident: Incident;
  /** The event of the note. */
  event: TimelineEvent | undefined;
}

/** Resolves an active incident and makes it a postmortem (contract: Lifecycle). @throws as `transitionIncident` */
export async function resolveIncident(
  dependencies: Dependencies,
  command: TransitionCommand,
): Promise<TransitionResult> {
  return transitionIncident(dependencies, command, { transition: resolve, noteType: 'resolution' });
}

/** Closes an active incident without a resolution (contract: Lifecycle). @throws as `transitionIncident` */
export async function closeIncident(dependencies: Dependencies, command: TransitionCommand): Promise<TransitionResult> {
  return transitionIncident(dependencies, command, { transition: close, noteType: 'closure' });
}

/** Reopens a resolved or closed incident (contract: Lifecycle). @throws as `transitionIncident` */
export async function reopenIncident(
  dependencies: Dependencies,
  command: TransitionCommand,
): Promise<TransitionResult> {
  return transitionIncident(dependencies, command, { transition: reopen, noteType: 'reopening' });
}

/**
 * Archives an incident: it leaves the lists and becomes read-only (contract: Lifecycle).
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, in this order
 */
export const archiveIncident = async (dependencies: Dependencies, command: ArchiveCommand): Promise<Incident> =>
  moveIncident(dependencies, command, {
    event: 'incident.archived',
    changeOf: (before, now) => archive(before, command.principal.user_id, now),
  });

/**
 * Restores an archived incident unchanged (contract: Lifecycle).
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, in this order
 */
export const restoreIncident = async (dependencies: Dependencies, command: ArchiveCommand): Promise<Incident> =>
  moveIncident(dependencies, command, { event: 'incident.restored', changeOf: restore });

/** Moves an incident into the archive or out of it. */
async function moveIncident(
  dependencies: Dependencies,
  command: ArchiveCommand,
  move: {
    event: 'incident.archived' | 'incident.restored';
    changeOf: (before: Incident, now: Instant) => Partial<Incident>;
  },
): Promise<Incident> {
  const { principal, id, expectedRevision } = command;
  const { event, changeOf } = move;
  const moved = await dependencies.database.transaction(async (trx) => {
    const before = await incidentStore(trx, principal.workspace.id).getForUpdate(id);
    const now = dependencies.clock.now();
    const change = changeOf(before, now);
    if (expectedRevision !== undefined) checkRevision(before.revision, expectedRevision, 'expected_revision');
    return saveIncident({ trx, author: authorOf(command), before, change, now, event, commit: true });
  });
  dependencies.wakeRelay();
  return moved;
}

/**
 * Saves a transition of an active incident and its note as one change.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, in this order; then what `transition`
 * throws; then `invalid_resource_state` for a quota
 */
async function transitionIncident(
  dependencies: Dependencies,
  command: TransitionCommand,
  { transition, noteType }: { transition: Transition; noteType: string },
): Promise<TransitionResult> {
  const { principal, id, expectedRevision, note } = command;
  const { workspace } = principal;
  const attempt = async (trx: Knex.Transaction, configuration: Configuration): Promise<TransitionResult> => {
    const before = await lockWithConfiguration(trx, { workspaceId: workspace.id, id, configuration });
    checkWritable(before);
    if (expectedRevision !== undefined) checkRevision(before.revision, expectedRevision, 'expected_revision');
    const now = dependencies.clock.now();
    const change = transition(before, { statuses: configuration.statuses, now });
    const options = { trx, author: authorOf(command), before, now, commit: true };
    if (note.trim() === '') return { incident: await saveIncident({ ...options, change }), event: undefined };

    checkRoomForNote(before, quotaOf(workspace, 'timeline_events'));
    dependencies.storage.check(workspace, { kind: 'change', growth: bytesOf(note) });
    const event = await timelineStore(trx, workspace.id).insert(
      newTimelineEvent({
        incidentId: id,
        source: 'api',
        createdBy: actorOf(command),
        properties: { startedAt: now, type: noteType, body: note },
      }),
    );
    const timeline = [{ type: 'timeline_event.created', event }] as const;
    return { incident: await saveTimeline({ ...options, change, timeline }), event };
  };
  const result = await withConfiguration(dependencies, workspace, async (configuration) =>
    dependencies.database.transaction(async (trx) => attempt(trx, configuration)),
  );
  dependencies.storage.add(workspace.id, { bytes: bytesOf(note) });
  dependencies.wakeRelay();
  return result;
}
