import { COST_HEADER, idempotently, idempotentlyWithClaim } from '@tocsin/http';
import type { Dependencies } from '../../dependencies.ts';
import type { Incident } from '../../incidents/domain/incident.ts';
import { toIncidentProperties } from '../../incidents/http/properties.ts';
import { incidentView } from '../../incidents/http/views.ts';
import type { SourceImport } from '../../source-imports/domain/document.ts';
import { createIncident, importIncident } from '../create-incident.ts';
import type { CreationApi } from './contracts.ts';
import type { SourceTimelineImportWire } from './wire.ts';

export const creationHandlers = (dependencies: Dependencies): CreationApi => ({
  createIncident: async (request) => {
    const { database, clock } = dependencies;
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
});

const sourceImportView = ({ status, eventCount, reason }: SourceImport): SourceTimelineImportWire => ({
  status,
  ...(eventCount !== undefined && { event_count: eventCount }),
  ...(reason !== undefined && { reason }),
});
