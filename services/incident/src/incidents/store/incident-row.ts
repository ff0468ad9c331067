import { column, type ColumnsOf, listedColumns, type RowOf, rowMapping } from '@tocsin/resources';
import type { Incident } from '../domain/incident.ts';
import { type ListColumn, toListColumns } from './list-columns.ts';

/** The columns of `incidents` that hold an incident. The type of a row, the SQL types and both mappings follow from them. */
export const INCIDENT_TABLE = {
  id: column('id', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
  number: column('number', 'bigint'),
  revision: column('revision', 'bigint'),
  title: column('title', 'text'),
  service: column('service', 'text'),
  regions: column('regions', 'text[]'),
  severity: column('severity', 'text'),
  severityMode: column('severity_mode', 'text'),
  status: column('status', 'text'),
  statusChangedAt: column('status_changed_at', 'timestamptz'),
  issueType: column('issue_type', 'text'),
  teamId: column('team_id', 'bigint'),
  slackChannelId: column('slack_channel_id', 'text'),
  meetUrl: column('meet_url', 'text'),
  docUrl: column('doc_url', 'text'),
  impactSummary: column('impact_summary', 'text'),
  customerImpactStatus: column('customer_impact_status', 'text'),
  impactStartedAt: column('impact_started_at', 'timestamptz'),
  firstReportedAt: column('first_reported_at', 'timestamptz'),
  firstRespondedAt: column('first_responded_at', 'timestamptz'),
  recoveredAt: column('recovered_at', 'timestamptz'),
  endedAt: column('ended_at', 'timestamptz'),
  incidentManager: column('incident_manager', 'text'),
  incidentResponders: column('incident_responders', 'text[]'),
  shortTitle: column('short_title', 'text'),
  customFields: column('custom_fields', 'jsonb'),
  eventCount: column('event_count', 'bigint'),
  lastEventAt: column('last_event_at', 'timestamptz'),
  lastEventSummary: column('last_event_summary', 'text'),
  runCount: column('run_count', 'bigint'),
  latestRun: column('latest_run', 'jsonb'),
  createdAt: column('created_at', 'timestamptz'),
  createdBy: column('created_by', 'text'),
  archivedAt: column('archived_at', 'timestamptz'),
  archivedBy: column('archived_by', 'bigint'),
} as const satisfies ColumnsOf<Incident>;

export type IncidentRow = RowOf<Incident, typeof INCIDENT_TABLE>;

const mapping = rowMapping<Incident, typeof INCIDENT_TABLE>(INCIDENT_TABLE);

/** A select list whose rows are incidents. */
export const INCIDENT_SELECTION = mapping.selection;

/** A state of an incident. Not every change raises the revision (ADR 10), but each has another transaction. */
export interface IncidentVersion extends Pick<Incident, 'id' | 'revision'> {
  /** The transaction that wrote the row. */
  xmin: string;
}

/** The select list of lists, from incidents `i`: the version of each and, if it is large, its weight. */
export const INCIDENT_VERSION_COLUMNS = `i.xmin, ${listedColumns<'id' | 'revision' | 'custom_fields'>({
  table: 'i',
  names: ['id', 'revision'],
  as: mapping.propertyOf,
  large: { custom_fields: 'jsonb' },
})}`;

/** Bindable values of some properties, and of the folded texts that lists compare instead of them, by column. */
export const toColumns = (
  properties: Partial<Incident> & Pick<Incident, 'workspaceId'>,
): Partial<Record<keyof IncidentRow | ListColumn, unknown>> => ({
  ...mapping.toRow(properties),
  ...toListColumns(properties),
});
