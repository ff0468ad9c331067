import type { Dependencies } from '../../dependencies.ts';
import {
  archiveIncident,
  closeIncident,
  reopenIncident,
  resolveIncident,
  restoreIncident,
  type TransitionResult,
} from '../lifecycle.ts';
import { newEventView } from '../../timeline/http/views.ts';
import { incidentView } from '../../incidents/http/views.ts';
import type { LifecycleApi } from './contracts.ts';

export function lifecycleHandlers(dependencies: Dependencies): LifecycleApi {
  const reply = ({ incident, event }: TransitionResult) => ({
    body: {
      incident: incidentView(incident, dependencies.clock.now()),
      ...(event !== undefined && { timeline_event: newEventView(event) }),
    },
    revision: incident.revision,
  });
  return {
    resolveIncident: async ({ principal, requestId, params: { id }, body }) => {
      const { resolution_note: note = '', expected_revision: expectedRevision } = body;
      return reply(await resolveIncident(dependencies, { principal, requestId, id, note, expectedRevision }));
    },

    closeIncident: async ({ principal, requestId, params: { id }, body }) => {
      const { close_note: note = '', expected_revision: expectedRevision } = body;
      return reply(await closeIncident(dependencies, { principal, requestId, id, note, expectedRevision }));
    },

    reopenIncident: async ({ principal, requestId, params: { id }, body }) => {
      const { reopen_note: note = '', expected_revision: expectedRevision } = body;
      return reply(await reopenIncident(dependencies, { principal, requestId, id, note, expectedRevision }));
    },

    archiveIncident: async ({ principal, requestId, params: { id }, body: { expected_revision: expectedRevision } }) =>
      reply({
        incident: await archiveIncident(dependencies, { principal, requestId, id, expectedRevision }),
        event: undefined,
      }),

    restoreIncident: async ({ principal, requestId, params: { id }, body: { expected_revision: expectedRevision } }) =>
      reply({
        incident: await restoreIncident(dependencies, { principal, requestId, id, expectedRevision }),
        event: undefined,
      }),
  };
}
