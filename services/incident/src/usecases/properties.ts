import { normaliseList } from '@tocsin/http';
import { parseTimestamp } from '@tocsin/contracts';
import type { IncidentProperties } from '../domain/incident.ts';

/** What a request may say of an incident, by the names on the wire; validated already. */
export interface WireProperties {
  title?: string | undefined;
  service?: string | undefined;
  regions?: readonly string[] | undefined;
  severity?: string | undefined;
  severity_mode?: IncidentProperties['severityMode'] | undefined;
  status?: string | undefined;
  issue_type?: IncidentProperties['issueType'] | undefined;
  team_id?: number | null | undefined;
  slack_channel_id?: string | undefined;
  meet_url?: string | undefined;
  doc_url?: string | undefined;
  impact_summary?: string | undefined;
  customer_impact_status?: IncidentProperties['customerImpactStatus'] | undefined;
  impact_started_at?: string | null | undefined;
  first_reported_at?: string | null | undefined;
  first_responded_at?: string | null | undefined;
  recovered_at?: string | null | undefined;
  incident_manager?: string | undefined;
  incident_responders?: readonly string[] | undefined;
}

/** The properties that a request names, in the form that is kept; the others are left out. */
export function propertiesOf(wire: WireProperties): Partial<IncidentProperties> {
  const moment = (text: string | null | undefined) => (typeof text === 'string' ? parseTimestamp(text) : text);
  const named = {
    title: wire.title?.trim(),
    // As slugs are, to which it is matched.
    service: wire.service?.normalize('NFC'),
    regions: wire.regions && normaliseList(wire.regions),
    severity: wire.severity,
    severityMode: wire.severity_mode ?? (wire.severity === undefined ? undefined : 'manual'),
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
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
