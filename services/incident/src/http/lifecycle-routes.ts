import { pathId, route } from '@tocsin/http';
import { z } from 'zod';
import { archiveIncident } from '../usecases/archive-incident.ts';
import { closeIncident } from '../usecases/close-incident.ts';
import type { Tools } from '../usecases/context.ts';
import { reopenIncident } from '../usecases/reopen-incident.ts';
import { resolveIncident } from '../usecases/resolve-incident.ts';
import { restoreIncident } from '../usecases/restore-incident.ts';
import type { Transitioned } from '../usecases/transition-incident.ts';
import { archiving, closure, reopening, resolution, transitionReply } from './lifecycle-wire.ts';
import { newEventView } from './timeline-views.ts';
import { incidentView } from './views.ts';
import { incidentReply } from './wire.ts';

const params = z.strictObject({ id: pathId });
const operation = {
  method: 'post',
  tag: 'Incidents',
  scope: 'incidents:write',
  needs: ['active_responder', 'mutable_incident'],
  params,
  bodyOptional: true,
} as const;
const one = { status: 200, body: incidentReply, versioned: true } as const;
const transitioned = { status: 200, body: transitionReply, versioned: true } as const;

export function lifecycleRoutes({ tools }: { tools: Tools }) {
  const reply = ({ incident, event }: Transitioned) => ({
    body: {
      incident: incidentView(incident, tools.clock.now()),
      ...(event !== undefined && { timeline_event: newEventView(event) }),
    },
    revision: incident.revision,
  });
  return [
    route({
      ...operation,
      id: 'resolveIncident',
      path: '/api/v1/incidents/{id}/resolve',
      summary: 'Resolve an incident, which makes it a postmortem',
      body: resolution,
      reply: transitioned,
      handle: async ({ principal, requestId, params: { id }, body }) => {
        const { resolution_note: note = '', expected_revision: expectedRevision } = body;
        return reply(await resolveIncident(tools, { principal, requestId, id, note, expectedRevision }));
      },
    }),
    route({
      ...operation,
      id: 'closeIncident',
      path: '/api/v1/incidents/{id}/close',
      summary: 'Close an incident that ended without a resolution',
      body: closure,
      reply: transitioned,
      handle: async ({ principal, requestId, params: { id }, body }) => {
        const { close_note: note = '', expected_revision: expectedRevision } = body;
        return reply(await closeIncident(tools, { principal, requestId, id, note, expectedRevision }));
      },
    }),
    route({
      ...operation,
      id: 'reopenIncident',
      path: '/api/v1/incidents/{id}/reopen',
      summary: 'Take up a resolved or closed incident again',
      body: reopening,
      reply: transitioned,
      handle: async ({ principal, requestId, params: { id }, body }) => {
        const { reopen_note: note = '', expected_revision: expectedRevision } = body;
        return reply(await reopenIncident(tools, { principal, requestId, id, note, expectedRevision }));
      },
    }),
    route({
      ...operation,
      id: 'archiveIncident',
      path: '/api/v1/incidents/{id}/archive',
      summary: 'Put an incident away: it leaves the lists and becomes read-only',
      body: archiving,
      reply: one,
      handle: async ({ principal, requestId, params: { id }, body: { expected_revision: expectedRevision } }) =>
        reply({
          incident: await archiveIncident(tools, { principal, requestId, id, expectedRevision }),
          event: undefined,
        }),
    }),
    route({
      ...operation,
      id: 'restoreIncident',
      needs: ['active_responder'],
      path: '/api/v1/incidents/{id}/restore',
      summary: 'Bring an archived incident back as it was',
      body: archiving,
      reply: one,
      handle: async ({ principal, requestId, params: { id }, body: { expected_revision: expectedRevision } }) =>
        reply({
          incident: await restoreIncident(tools, { principal, requestId, id, expectedRevision }),
          event: undefined,
        }),
    }),
  ];
}
