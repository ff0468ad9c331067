import type { Instant } from '@tocsin/runtime';
import { durationAnchor, durationSeconds, humanId, type Incident } from '../domain/incident.ts';
import type { IncidentWire } from './wire.ts';

/**
 * Returns an incident as the API shows it; the duration of an open incident ends at `now`. Lists do this for each row: a
 * loop over the table would take four times as long as this literal, which the compiler compares with the table (ADR 54).
 */
export function incidentView(incident: Incident, now: Instant): IncidentWire {
  return {
    id: incident.id,
    revision: incident.revision,
    company_id: incident.workspaceId,
    human_id: humanId(incident.number),
    title: incident.title,
    external_id: incident.externalId,
    external_url: incident.externalUrl,
    imported_at: incident.importedAt,
    service: incident.service,
    regions: incident.regions,
    severity: incident.severity,
    slack_channel_id: incident.slackChannelId,
    meet_url: incident.meetUrl,
    doc_url: incident.docUrl,
    status: incident.status,
    status_changed_at: incident.statusChangedAt,
    last_event_at: incident.lastEventAt,
    last_event_summary: incident.lastEventSummary,
    issue_type: incident.issueType,
    postmortem_state: incident.postmortemState,
    severity_mode: incident.severityMode,
    impact_summary: incident.impactSummary,
    customer_impact_status: incident.customerImpactStatus,
    impact_started_at: incident.impactStartedAt,
    first_reported_at: incident.firstReportedAt,
    first_responded_at: incident.firstRespondedAt,
    first_acted_at: incident.firstActedAt,
    recovered_at: incident.recoveredAt,
    next_update_at: incident.nextUpdateAt,
    duration_seconds: durationSeconds(incident, now),
    duration_anchor: durationAnchor(incident),
    team_id: incident.teamId,
    event_count: incident.eventCount,
    investigation_summary: investigationSummary(incident),
    created_at: incident.createdAt,
    created_by: incident.createdBy,
    created_by_key: incident.createdByKey,
    custom_fields: incident.customFields,
    archived_at: incident.archivedAt,
    archived_by: incident.archivedBy,
    incident_manager: incident.incidentManager,
    incident_responders: incident.incidentResponders,
    restricted: incident.restricted,
    visible_to: incident.visibleTo,
    roles: incident.roles,
    has_assignees: incident.incidentManager !== '' || incident.incidentResponders.length > 0,
  };
}

function investigationSummary({ runCount, latestRun }: Incident): IncidentWire['investigation_summary'] {
  if (runCount === 0) return null;
  if (latestRun === null) return { run_count: runCount, latest_run: null };
  const { status, startedAt, completedAt } = latestRun;
  return {
    run_count: runCount,
    latest_run: { status, started_at: startedAt, ...(completedAt !== null && { completed_at: completedAt }) },
  };
}
