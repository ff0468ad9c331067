import { isBlank, quotaOf } from '@tocsin/contracts';
import { checkRevision } from '@tocsin/http';
import type { Caller } from '@tocsin/resources';
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
import { timelineStore } from '../timeline/store/timeline-store.ts';
import { authorOf, creatorOf, saveIncident } from '../incidents/save-incident.ts';
import { type CommandDependencies, type CommandOutcome, runCommand } from '../incidents/run-command.ts';
import { saveTimeline } from '../timeline/save-timeline.ts';

interface LifecycleCommand extends Caller {
  id: number;
  /** The revision that the client read; `undefined` skips the check. */
  expectedRevision: number | undefined;
  outcome?: CommandOutcome<TransitionResult> | undefined;
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
    transaction: async (trx) => {
      const before = await incidentStore(trx, workspace.id).getForUpdate(id);
      const now = dependencies.clock.now();
      const change = event === 'incident.archived' ? archive(before, principal.user_id, now) : restore(before);
      if (expectedRevision !== undefined) checkRevision(before.revision, expectedRevision, 'expected_revision');
      const options = { trx, author: authorOf(command), before, change, now, event, commit: outcome === undefined };
      return { incident: await saveIncident(options) };
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
    prepare: async ({ readConfiguration }) => readConfiguration(),
    transaction: async (trx, { prepared: configuration, checkStorage }) => {
      const before = await lockWithConfiguration(trx, { workspaceId: workspace.id, id, configuration });
      checkWritable(before);
      if (expectedRevision !== undefined) checkRevision(before.revision, expectedRevision, 'expected_revision');
      const now = dependencies.clock.now();
      const change = transition(before, { statuses: configuration.statuses, now });
      const options = { trx, author: authorOf(command), before, now, commit: outcome === undefined };
      if (isBlank(note)) return { incident: await saveIncident({ ...options, change }) };

      checkRoomForNote(before, quotaOf(workspace, 'timeline_events'));
      checkStorage('change');
      const event = await timelineStore(trx, workspace.id).insert(
        newTimelineEvent({
          incidentId: id,
          source: 'api',
          ...creatorOf(command),
          properties: { startedAt: now, type: noteType, body: note },
        }),
      );
      const timeline = [{ type: 'timeline_event.created', event }] as const;
      return { incident: await saveTimeline({ ...options, change, timeline }), event };
    },
  });
}
