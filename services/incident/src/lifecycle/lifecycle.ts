/**
 * `lifecycle` moves incidents: resolve, close, reopen, archive and restore (contract: Lifecycle). The first three hold
 * the configuration against changes and then lock the incident, because the list of statuses says what is terminal; the
 * other two only lock the incident. Under the lock they check that the incident may change, then the expected revision
 * if there is one, and then what the transition itself requires. A note that is not blank becomes a timeline event of
 * the same revision. All of it commits together, so a crash leaves the incident as it was. An operation that would
 * change nothing keeps the revision; only archiving an archived incident and restoring an active one are refused.
 * `bulk` runs the same functions.
 */
import { isBlank, quotaOf } from '@tocsin/schemas';
import { checkRevision, type KeyedOutcome } from '@tocsin/http';
import type { Caller } from '@tocsin/versioned-resources';
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
import { newTimelineEvent, type TimelineEvent, checkRoomForNote } from '../timeline/domain/timeline-event.ts';
import { incidentStore, lockWithConfiguration } from '../incidents/store/incident-store.ts';
import { insertEvent, nextEventId } from '../timeline/store/timeline-store.ts';
import { authorOf, changeIncident, creatorOf } from '../incidents/save-incident.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { changeTimeline } from '../timeline/change-timeline.ts';

interface LifecycleCommand extends Caller {
  id: number;
  /** The revision that the client read; `undefined` skips the check. */
  expectedRevision: number | undefined;
  outcome?: KeyedOutcome<TransitionResult> | undefined;
}

/** The transitions of an active incident, with the types of the events that their notes become. */
const TRANSITIONS = {
  resolve: { transition: resolve, noteType: 'resolution' },
  close: { transition: close, noteType: 'closure' },
  reopen: { transition: reopen, noteType: 'reopening' },
} as const satisfies Record<string, { transition: Transition; noteType: string }>;

export interface MoveCommand extends LifecycleCommand {
  event: 'incident.archived' | 'incident.restored';
}

export interface TransitionCommand extends LifecycleCommand {
  name: keyof typeof TRANSITIONS;
  /** Becomes a timeline event unless it is blank. */
  note: string;
}

export interface TransitionResult {
  incident: Incident;
  /** The event of the note. */
  event?: TimelineEvent;
}

/**
 * Archives an incident, so that it leaves the lists and becomes read-only, or restores it unchanged (contract: Lifecycle).
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, in this order
 */
export async function moveIncident(dependencies: CommandDependencies, command: MoveCommand): Promise<TransitionResult> {
  const { principal, id, expectedRevision, event, outcome } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    outcome,
    reads: async (trx) => incidentStore(trx, workspace.id).getForUpdate(id),
    decides: (before, { now }) => {
      const change = event === 'incident.archived' ? archive(before, principal.user_id, now) : restore(before);
      if (expectedRevision !== undefined) checkRevision(before.revision, expectedRevision, 'expected_revision');
      const changed = changeIncident({ author: authorOf(command), before, change, now, event });
      return { stores: changed.statements, answer: () => ({ incident: changed.after }) };
    },
  });
}

/**
 * Resolves an active incident and makes it a postmortem, closes it without a resolution, or reopens it; its note is a part of
 * the same change (contract: Lifecycle).
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, in this order; then what the transition
 * throws; then `invalid_resource_state` for a quota
 */
export async function transitionIncident(
  dependencies: CommandDependencies,
  command: TransitionCommand,
): Promise<TransitionResult> {
  const { transition, noteType } = TRANSITIONS[command.name];
  const { principal, id, expectedRevision, note, outcome } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    outcome,
    prepares: async ({ readConfiguration }) => readConfiguration(),
    reads: async (trx, { prepared: configuration }) => {
      const before = await lockWithConfiguration(trx, { workspaceId: workspace.id, id, configuration });
      return { before, eventId: isBlank(note) ? 0 : await nextEventId(trx) };
    },
    decides: ({ before, eventId }, { prepared: { statuses }, checkStorage, now }) => {
      checkWritable(before);
      if (expectedRevision !== undefined) checkRevision(before.revision, expectedRevision, 'expected_revision');
      const options = { author: authorOf(command), before, change: transition(before, { statuses, now }), now };
      if (isBlank(note)) {
        const { after, statements } = changeIncident(options);
        return { stores: statements, answer: () => ({ incident: after }) };
      }
      checkRoomForNote(before, quotaOf(workspace, 'timeline_events'));
      checkStorage('change');
      const properties = { startedAt: now, type: noteType, body: note };
      const created = newTimelineEvent({ incidentId: id, source: 'api', ...creatorOf(command), properties });
      const event = { ...created, id: eventId };
      const { after, statements } = changeTimeline({
        ...options,
        timeline: [{ type: 'timeline_event.created', event }],
      });
      return { stores: [insertEvent(workspace.id, event), ...statements], answer: () => ({ incident: after, event }) };
    },
  });
}
