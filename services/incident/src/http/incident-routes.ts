import { idempotently, notFound, pathId, route } from '@tocsin/http';
import { z } from 'zod';
import { type Incident, numberOf } from '../domain/incident.ts';
import type { SourceImport } from '../domain/source/document.ts';
import { incidentStore } from '../store/incident-store.ts';
import type { Tools } from '../usecases/context.ts';
import { declareIncident } from '../usecases/declare-incident.ts';
import { updateIncident } from '../usecases/update-incident.ts';
import { incidentView, sourceImportView } from './views.ts';
import { incidentPatch, incidentReply, newIncident, newIncidentReply } from './wire.ts';

const tag = 'Incidents';
const params = z.strictObject({ id: pathId });
const one = { status: 200, body: incidentReply, versioned: true } as const;

export function incidentRoutes({ tools }: { tools: Tools }) {
  const { database, clock } = tools;
  // An import takes its time; without one the answer shows the very moment of creation.
  const newIncidentText = (incident: Incident, sourceImport?: SourceImport) =>
    JSON.stringify(
      sourceImport === undefined
        ? { incident: incidentView(incident, incident.createdAt) }
        : { incident: incidentView(incident, clock.now()), source_timeline_import: sourceImportView(sourceImport) },
    );
  return [
    route({
      id: 'createIncident',
      method: 'post',
      path: '/api/v1/incidents',
      summary: 'Declare an incident',
      tag,
      scope: 'incidents:write',
      needs: ['active_responder'],
      idempotent: true,
      body: newIncident,
      reply: { status: 201, body: newIncidentReply, versioned: true },
      handle: async (request) =>
        idempotently(database, request, async (claim) => {
          const { principal, requestId, body, log } = request;
          const answer = await declareIncident(tools, {
            principal,
            requestId,
            body,
            claim,
            log,
            render: newIncidentText,
          });
          return { status: 201, ...answer };
        }),
    }),
    route({
      id: 'getIncident',
      method: 'get',
      path: '/api/v1/incidents/{id}',
      summary: 'One incident, archived or not',
      tag,
      scope: 'incidents:read',
      params,
      reply: one,
      handle: async ({ principal, params: { id } }) => {
        const incident = await incidentStore(database, principal.workspace.id).get(id);
        return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
      },
    }),
    route({
      id: 'getIncidentByReference',
      method: 'get',
      path: '/api/v1/incident-references/{reference}',
      summary: 'One incident by its permanent reference, whatever its case',
      tag,
      scope: 'incidents:read',
      params: z.strictObject({ reference: z.string().min(1) }),
      reply: one,
      handle: async ({ principal, params: { reference } }) => {
        const number = numberOf(reference);
        if (number === undefined) throw notFound('The incident');
        const incident = await incidentStore(database, principal.workspace.id).getByNumber(number);
        return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
      },
    }),
    route({
      id: 'updateIncident',
      method: 'patch',
      path: '/api/v1/incidents/{id}',
      summary: 'Change some properties of an active incident',
      tag,
      scope: 'incidents:write',
      needs: ['active_responder', 'mutable_incident'],
      params,
      precondition: true,
      body: incidentPatch,
      reply: one,
      handle: async ({ principal, requestId, params: { id }, expectedRevision, body }) => {
        const incident = await updateIncident(tools, { principal, requestId, id, expectedRevision, body });
        return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
      },
    }),
  ];
}
