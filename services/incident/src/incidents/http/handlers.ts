import { COST_HEADER, idempotently, idempotentlyWithClaim, notFound } from '@tocsin/http';
import { type Incident, numberOf } from '../domain/incident.ts';
import type { SourceImport } from '../../source-imports/domain/document.ts';
import { incidentStore } from '../store/incident-store.ts';
import type { Dependencies } from '../../dependencies.ts';
import { createIncident, importIncident } from '../../creation/create-incident.ts';
import { updateIncident } from '../update-incident.ts';
import { toIncidentProperties } from './properties.ts';
import { incidentView, sourceImportView } from './views.ts';
import type { IncidentApi } from '../../http/contracts.ts';

export function incidentHandlers({
  dependencies,
}: {
  dependencies: Dependencies;
}): Pick<IncidentApi, 'createIncident' | 'getIncident' | 'getIncidentByReference' | 'updateIncident'> {
  const { database, clock } = dependencies;
  return {
    createIncident: async (request) => {
      const { principal, requestId, body, log } = request;
      const command = {
        principal,
        requestId,
        properties: { ...toIncidentProperties(body), title: body.title.trim() },
        chat: {
          shortTitle: body.short_title ?? '',
          createChannel: body.create_slack_channel ?? false,
          usergroups: body.invite_usergroups ?? [],
        },
        customFields: body.custom_field_values ?? [],
      };
      if (body.import_source_timeline_event === true) {
        const render = (incident: Incident, sourceImport: SourceImport) =>
          JSON.stringify({
            // The import has taken time, so the duration ends now.
            incident: incidentView(incident, clock.now()),
            source_timeline_import: sourceImportView(sourceImport),
          });
        return idempotentlyWithClaim(database, request, async (claim) => {
          const { imported, ...reply } = await importIncident(dependencies, { ...command, claim, log, render });
          return { status: 201, ...reply, headers: { [COST_HEADER]: String(imported) } };
        });
      }
      const render = (incident: Incident) => JSON.stringify({ incident: incidentView(incident, incident.createdAt) });
      return idempotently(database, request, async (key) => ({
        status: 201,
        ...(await createIncident(dependencies, { ...command, key, render })),
      }));
    },

    getIncident: async ({ principal, params: { id } }) => {
      const incident = await incidentStore(database, principal.workspace.id).get(id);
      return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
    },

    getIncidentByReference: async ({ principal, params: { reference } }) => {
      const number = numberOf(reference);
      if (number === undefined) throw notFound('The incident');
      const incident = await incidentStore(database, principal.workspace.id).getByNumber(number);
      return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
    },

    updateIncident: async ({ principal, requestId, params: { id }, expectedRevision, body }) => {
      const changes = toIncidentProperties(body);
      const incident = await updateIncident(dependencies, { principal, requestId, id, expectedRevision, changes });
      return { body: { incident: incidentView(incident, clock.now()) }, revision: incident.revision };
    },
  };
}
