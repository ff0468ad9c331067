import { isDeepStrictEqual } from 'node:util';
import { getValue, type Incident } from './incident.ts';

/** The change of one property, by its name in the API. */
export interface Change {
  field: string;
  from: unknown;
  to: unknown;
}

/** They are set at the creation, count or follow from something else, or are compared by themselves (`customFields`). */
type Unrecorded =
  | 'id'
  | 'workspaceId'
  | 'number'
  | 'revision'
  | 'shortTitle'
  | 'statusChangedAt'
  | 'endedAt'
  | 'customFields'
  | 'eventCount'
  | 'lastEventAt'
  | 'lastEventSummary'
  | 'runCount'
  | 'latestRun'
  | 'createdAt'
  | 'createdBy';

/** The properties that the changelog records, with their names in the API. A change of nothing else is not saved. */
const WIRE_NAMES = {
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
} as const satisfies Record<Exclude<keyof Incident, Unrecorded>, string>;

/** Returns the differences between two states of an incident: properties in the resource's order, then custom-field values. */
export function changesBetween(before: Incident, after: Incident): Change[] {
  const properties = (Object.keys(WIRE_NAMES) as (keyof typeof WIRE_NAMES)[]).map((property): Change => ({
    field: WIRE_NAMES[property],
    from: before[property],
    to: after[property],
  }));
  const slugs = new Set([...Object.keys(before.customFields), ...Object.keys(after.customFields)]);
  const values = [...slugs].sort().map((slug): Change => ({
    field: `custom_fields.${slug}`,
    from: getValue(before.customFields, slug),
    to: getValue(after.customFields, slug),
  }));
  return [...properties, ...values].filter(({ from, to }) => !isDeepStrictEqual(from, to));
}
