import type { IncidentReference, PublishedIncident } from '@tocsin/contracts';
import { humanId, type Incident } from './incident.ts';
import { shortenValue, shortenValues } from './large-changes.ts';

/** Returns an incident as events contain it (contract: Events on the broker). */
export function incidentSnapshot(incident: Incident): PublishedIncident {
  return {
    id: incident.id,
    reference: humanId(incident.number),
    revision: incident.revision,
    title: incident.title,
    service: incident.service,
    regions: [...incident.regions],
    severity: incident.severity,
    status: incident.status,
    issue_type: incident.issueType,
    impact_summary: incident.impactSummary,
    team_id: incident.teamId,
    created_at: incident.createdAt,
    created_by: incident.createdBy,
    archived_at: incident.archivedAt,
    archived_by: incident.archivedBy,
    status_changed_at: incident.statusChangedAt,
    severity_mode: incident.severityMode,
    slack_channel_id: incident.slackChannelId,
    meet_url: shortenValue(incident.meetUrl),
    doc_url: shortenValue(incident.docUrl),
    customer_impact_status: incident.customerImpactStatus,
    impact_started_at: incident.impactStartedAt,
    first_reported_at: incident.firstReportedAt,
    first_responded_at: incident.firstRespondedAt,
    recovered_at: incident.recoveredAt,
    incident_manager: incident.incidentManager,
    incident_responders: [...incident.incidentResponders],
    custom_fields: shortenedFields(incident.customFields),
    event_count: incident.eventCount,
    last_event_at: incident.lastEventAt,
    last_event_summary: incident.lastEventSummary,
  };
}

export const incidentReference = ({ id, number, revision }: Incident): IncidentReference => ({
  id,
  reference: humanId(number),
  revision,
});

function shortenedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const slugs = Object.keys(fields);
  const { values } = shortenValues(Object.values(fields));
  // Not by assignment: a slug may be the name of an inherited property.
  return Object.fromEntries(slugs.map((slug, index) => [slug, values[index]]));
}
