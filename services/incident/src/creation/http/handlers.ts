import { COST_HEADER, FETCHED_BYTES_HEADER, idempotently, idempotentlyWithClaim } from '@tocsin/http';
import type { Incident } from '../../incidents/domain/incident.ts';
import { toIncidentProperties } from '../../incidents/http/properties.ts';
import { incidentView } from '../../incidents/http/views.ts';
import type { SourceImport } from '../../source-imports/domain/document.ts';
import { type ImportDependencies, importSourceTimeline } from '../../source-imports/import-source-timeline.ts';
import { type CreateDependencies, createIncident } from '../create-incident.ts';
import type { CreationApi } from './contracts.ts';
import type { SourceTimelineImportWire } from './wire.ts';

export const creationHandlers = (dependencies: CreateDependencies & ImportDependencies): CreationApi => ({
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
        const incident = await createIncident(dependencies, { ...command, claim });
        const importing = { principal, requestId, incident, claim, log, render };
        const { sourceImport, reply } = await importSourceTimeline(dependencies, importing);
        const { eventCount = 0, fetchedBytes = 0 } = sourceImport;
        const headers = { [COST_HEADER]: String(eventCount), [FETCHED_BYTES_HEADER]: String(fetchedBytes) };
        return { status: 201, ...reply, headers };
      });
    }
    const responseOf = (incident: Incident) => ({
      status: 201,
      text: JSON.stringify({ incident: incidentView(incident, incident.createdAt) }),
      revision: incident.revision,
    });
    return idempotently(database, request, async (key) =>
      responseOf(await createIncident(dependencies, { ...command, outcome: key && { key, responseOf } })),
    );
  },
});

const sourceImportView = (result: SourceImport): SourceTimelineImportWire => {
  const { status, eventCount, reason, skippedCount, skipped, timeZones } = result;
  return {
    status,
    ...(eventCount !== undefined && { event_count: eventCount }),
    ...(reason !== undefined && { reason }),
    ...(skippedCount !== undefined && { skipped_count: skippedCount }),
    ...(skipped !== undefined && { skipped: [...skipped] }),
    ...(timeZones !== undefined && {
      time_zones: timeZones.map(({ timeZone, source }) => ({ time_zone: timeZone, source })),
    }),
  };
};
