import { parseTimestamp } from '@tocsin/contracts';
import { normaliseList } from '@tocsin/http';
import { definedProperties } from '@tocsin/resources';
import type { IncidentProperties } from '../domain/incident.ts';
import type { IncidentPatch } from './wire.ts';

/** The short title of a new incident is a part of its request for a chat channel. */
type PatchedProperties = Omit<IncidentProperties, 'shortTitle'>;

/** The properties that a validated request gives, as the incident stores them. */
export function toIncidentProperties(wire: IncidentPatch): Partial<PatchedProperties> {
  const moment = (text: string | null | undefined) => (typeof text === 'string' ? parseTimestamp(text) : text);
  return definedProperties<PatchedProperties>({
    title: wire.title?.trim(),
    // The catalog stores slugs in NFC.
    service: wire.service?.normalize('NFC'),
    regions: wire.regions && normaliseList(wire.regions),
    severity: wire.severity,
    severityMode: wire.severity_mode,
    status: wire.status,
    issueType: wire.issue_type,
    teamId: wire.team_id,
    slackChannelId: wire.slack_channel_id,
    meetUrl: wire.meet_url,
    docUrl: wire.doc_url,
    impactSummary: wire.impact_summary,
    customerImpactStatus: wire.customer_impact_status,
    impactStartedAt: moment(wire.impact_started_at),
    firstReportedAt: moment(wire.first_reported_at),
    firstRespondedAt: moment(wire.first_responded_at),
    recoveredAt: moment(wire.recovered_at),
    incidentManager: wire.incident_manager,
    incidentResponders: wire.incident_responders && [...new Set(wire.incident_responders)],
  });
}
