import type { CommandDependencies } from '../../incidents/run-command.ts';
import {
  type MoveCommand,
  moveIncident,
  type TransitionCommand,
  transitionIncident,
  type TransitionResult,
} from '../lifecycle.ts';
import { newEventView } from '../../timeline/http/views.ts';
import { incidentView } from '../../incidents/http/views.ts';
import type { LifecycleApi } from './contracts.ts';

export function lifecycleHandlers(dependencies: CommandDependencies): LifecycleApi {
  const reply = ({ incident, event }: TransitionResult) => ({
    body: {
      incident: incidentView(incident, dependencies.clock.now()),
      ...(event !== undefined && { timeline_event: newEventView(event) }),
    },
    revision: incident.revision,
  });
  const transition = async (
    { body, params: { id }, ...caller }: Parameters<LifecycleApi['archiveIncident']>[0],
    name: TransitionCommand['name'],
    note = '',
  ) =>
    reply(
      await transitionIncident(dependencies, { ...caller, id, name, note, expectedRevision: body.expected_revision }),
    );
  const move = async (
    { body, params: { id }, ...caller }: Parameters<LifecycleApi['archiveIncident']>[0],
    event: MoveCommand['event'],
  ) => reply(await moveIncident(dependencies, { ...caller, id, event, expectedRevision: body.expected_revision }));
  return {
    resolveIncident: async (request) => transition(request, 'resolve', request.body.resolution_note),
    closeIncident: async (request) => transition(request, 'close', request.body.close_note),
    reopenIncident: async (request) => transition(request, 'reopen', request.body.reopen_note),
    archiveIncident: async (request) => move(request, 'incident.archived'),
    restoreIncident: async (request) => move(request, 'incident.restored'),
  };
}
