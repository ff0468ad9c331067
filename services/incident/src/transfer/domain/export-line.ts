import type { Instant } from '@tocsin/runtime';
import type { Change } from '../../incidents/domain/changes.ts';
import { humanId, type Incident } from '../../incidents/domain/incident.ts';
import type { TimelineEvent, TimelineEventProperties } from '../../timeline/domain/timeline-event.ts';
import { externalOf } from './external.ts';
import type { Person } from './person.ts';

export interface LineContext {
  /** The workspace's slug. */
  workspace: string;
  /** The slug of the incident's team. */
  team: string | null;
  personOf: (text: string) => Person;
}

/** What every line of an incident begins with: the properties that an item must have. */
export const beginningOf = (incident: Incident, { workspace, personOf }: LineContext) => ({
  kind: 'incident',
  external: {
    ...externalOf(incident.externalId, { workspace, reference: humanId(incident.number) }),
    ...(incident.externalUrl !== '' && { url: incident.externalUrl }),
  },
  title: incident.title,
  status: incident.status,
  severity: incident.severity,
  created_at: incident.createdAt,
  author: personOf(incident.createdBy),
});

/** The rest of the incident, which its first line has. */
export const restOf = (incident: Incident, { team, personOf }: LineContext) => ({
  status_changed_at: incident.statusChangedAt,
  archived_at: incident.archivedAt,
  service: incident.service,
  regions: incident.regions,
  team,
  issue_type: incident.issueType,
  severity_mode: incident.severityMode,
  impact_summary: incident.impactSummary,
  customer_impact_status: incident.customerImpactStatus,
  slack_channel_id: incident.slackChannelId,
  meet_url: incident.meetUrl,
  doc_url: incident.docUrl,
  moments: {
    impact_started_at: incident.impactStartedAt,
    first_reported_at: incident.firstReportedAt,
    first_responded_at: incident.firstRespondedAt,
    recovered_at: incident.recoveredAt,
  },
  people: {
    manager: incident.incidentManager === '' ? null : personOf(incident.incidentManager),
    responders: incident.incidentResponders.map(personOf),
  },
  values: incident.customFields,
});

/** What an export has of an event. */
export interface ExportedEvent
  extends Omit<TimelineEventProperties, 'groupId'>, Pick<TimelineEvent, 'id' | 'source' | 'sourceRef' | 'createdBy'> {
  externalId: string | null;
  /** The name of its group. */
  group: string | null;
}

/** What an export has of a changelog entry. */
export interface ExportedChange {
  id: number;
  actor: string;
  changedAt: Instant;
  changes: readonly Change[];
}

type PersonContext = Pick<LineContext, 'personOf'>;

export const eventItemOf = (event: ExportedEvent, { personOf }: PersonContext) => ({
  external_id: event.externalId ?? `tocsin:${event.id}`,
  type: event.type,
  body: event.body,
  started_at: event.startedAt,
  author: personOf(event.createdBy),
  is_key: event.isKey,
  title: event.title,
  ended_at: event.endedAt,
  is_ongoing: event.isOngoing,
  icon: event.icon,
  tags: event.tags,
  group: event.group,
  source: event.source,
  source_ref: event.sourceRef,
});

export const changeItemOf = ({ changedAt, actor, changes }: ExportedChange, { personOf }: PersonContext) => ({
  changed_at: changedAt,
  actor: personOf(actor),
  changes,
});
