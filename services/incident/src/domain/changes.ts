import { isDeepStrictEqual } from 'node:util';
import type { Incident } from './incident.ts';
import { valueIn } from './values.ts';

/** One property's change, by its name on the wire. */
export interface Change {
  field: string;
  from: unknown;
  to: unknown;
}

/** The properties whose changes the changelog tells, by their names on the wire. */
const TRACKED = {
  title: 'title',
  service: 'service',
  regions: 'regions',
  severity: 'severity',
  severityMode: 'severity_mode',
  status: 'status',
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
  incidentManager: 'incident_manager',
  incidentResponders: 'incident_responders',
  archivedAt: 'archived_at',
  archivedBy: 'archived_by',
} as const satisfies Partial<Record<keyof Incident, string>>;

/** What differs between two states of an incident, in the order of the resource's properties, its values last. */
export function changesBetween(before: Incident, after: Incident): Change[] {
  const properties = (Object.keys(TRACKED) as (keyof typeof TRACKED)[]).map((property): Change => ({
    field: TRACKED[property],
    from: before[property],
    to: after[property],
  }));
  const slugs = new Set([...Object.keys(before.customFields), ...Object.keys(after.customFields)]);
  const values = [...slugs].sort().map((slug): Change => ({
    field: `custom_fields.${slug}`,
    from: valueIn(before.customFields, slug),
    to: valueIn(after.customFields, slug),
  }));
  return [...properties, ...values].filter(({ from, to }) => !isDeepStrictEqual(from, to));
}
