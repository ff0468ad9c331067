import type { Instant } from '@tocsin/runtime';
import type { Incident, InvestigationRun } from '../domain/incident.ts';
import { type ListColumn, toListColumns } from './list-columns.ts';

/** A row of `incidents`, as far as the resource needs it. */
export interface IncidentRow {
  id: number;
  workspace_id: number;
  number: number;
  revision: number;
  title: string;
  service: string;
  regions: string[];
  severity: string;
  severity_mode: Incident['severityMode'];
  status: string;
  status_changed_at: Instant | null;
  issue_type: Incident['issueType'];
  team_id: number | null;
  slack_channel_id: string;
  meet_url: string;
  doc_url: string;
  impact_summary: string;
  customer_impact_status: Incident['customerImpactStatus'];
  impact_started_at: Instant | null;
  first_reported_at: Instant | null;
  first_responded_at: Instant | null;
  recovered_at: Instant | null;
  ended_at: Instant | null;
  incident_manager: string;
  incident_responders: string[];
  short_title: string;
  custom_fields: Record<string, unknown>;
  event_count: number;
  last_event_at: Instant | null;
  last_event_summary: string;
  run_count: number;
  latest_run: InvestigationRun | null;
  created_at: Instant;
  created_by: string;
  archived_at: Instant | null;
  archived_by: number | null;
}

/** Which column holds which property. */
const COLUMN_OF = {
  id: 'id',
  workspaceId: 'workspace_id',
  number: 'number',
  revision: 'revision',
  title: 'title',
  service: 'service',
  regions: 'regions',
  severity: 'severity',
  severityMode: 'severity_mode',
  status: 'status',
  statusChangedAt: 'status_changed_at',
  issueType: 'issue_type',
  teamId: 'team_id',
  slackChannelId: 'slack_channel_id',
  meetUrl: 'meet_url',
  docUrl: 'doc_url',
  impactSummary: 'impact_summary',
  customerImpactStatus: 'customer_impact_status',
  impactStartedAt: 'impact_started_at',
  firstReportedAt: 'first_reported_at',
  firstRespondedAt: 'first_responded_at',
  recoveredAt: 'recovered_at',
  endedAt: 'ended_at',
  incidentManager: 'incident_manager',
  incidentResponders: 'incident_responders',
  shortTitle: 'short_title',
  customFields: 'custom_fields',
  eventCount: 'event_count',
  lastEventAt: 'last_event_at',
  lastEventSummary: 'last_event_summary',
  runCount: 'run_count',
  latestRun: 'latest_run',
  createdAt: 'created_at',
  createdBy: 'created_by',
  archivedAt: 'archived_at',
  archivedBy: 'archived_by',
} as const satisfies Record<keyof Incident, keyof IncidentRow>;

export const INCIDENT_COLUMNS = Object.values(COLUMN_OF);

const JSON_COLUMNS: ReadonlySet<string> = new Set(['custom_fields', 'latest_run']);
const PROPERTIES = Object.entries(COLUMN_OF) as [keyof Incident, keyof IncidentRow][];

/** Property by property: pages of incidents go through here, and a loop takes six times as long. */
export const toIncident = (row: IncidentRow): Incident => ({
  id: row.id,
  workspaceId: row.workspace_id,
  number: row.number,
  revision: row.revision,
  title: row.title,
  service: row.service,
  regions: row.regions,
  severity: row.severity,
  severityMode: row.severity_mode,
  status: row.status,
  statusChangedAt: row.status_changed_at,
  issueType: row.issue_type,
  teamId: row.team_id,
  slackChannelId: row.slack_channel_id,
  meetUrl: row.meet_url,
  docUrl: row.doc_url,
  impactSummary: row.impact_summary,
  customerImpactStatus: row.customer_impact_status,
  impactStartedAt: row.impact_started_at,
  firstReportedAt: row.first_reported_at,
  firstRespondedAt: row.first_responded_at,
  recoveredAt: row.recovered_at,
  endedAt: row.ended_at,
  incidentManager: row.incident_manager,
  incidentResponders: row.incident_responders,
  shortTitle: row.short_title,
  customFields: row.custom_fields,
  eventCount: row.event_count,
  lastEventAt: row.last_event_at,
  lastEventSummary: row.last_event_summary,
  runCount: row.run_count,
  latestRun: row.latest_run,
  createdAt: row.created_at,
  createdBy: row.created_by,
  archivedAt: row.archived_at,
  archivedBy: row.archived_by,
});

/** Column names and bindable values of some properties, and of what lists compare instead of them. */
export function toColumns(
  properties: Partial<Incident> & Pick<Incident, 'workspaceId'>,
): Partial<Record<keyof IncidentRow | ListColumn, unknown>> {
  const columns = PROPERTIES.filter(([property]) => properties[property] !== undefined).map(([property, column]) => {
    const value = properties[property];
    return [column, JSON_COLUMNS.has(column) && value !== null ? JSON.stringify(value) : value] as const;
  });
  return { ...Object.fromEntries(columns), ...toListColumns(properties) };
}
