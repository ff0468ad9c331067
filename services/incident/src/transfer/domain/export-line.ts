import type { Instant } from '@tocsin/runtime';
import type { Change } from '../../incidents/domain/changes.ts';
import { keyOf } from '../../incidents/domain/acts.ts';
import { humanId, type Incident } from '../../incidents/domain/incident.ts';
import { TRANSFERRED, TRANSFERRED_MOMENTS } from '../../incidents/domain/property-sets.ts';
import type { FollowUp } from '../../follow-ups/domain/follow-up.ts';
import type { WrittenPostmortem } from '../../postmortem/domain/written.ts';
import type { Relation } from '../../relations/domain/relation.ts';
import type { TimelineEvent, TimelineEventProperties } from '../../timeline/domain/timeline-event.ts';
import { externalOf, ownIdOf, type Person } from './item.ts';

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

const namedProperties = (items: typeof TRANSFERRED | typeof TRANSFERRED_MOMENTS, incident: Incident) =>
  Object.fromEntries(items.map(({ name, property }) => [name, incident[property]]));

/** The rest of the incident, which its first line has. */
export const restOf = (incident: Incident, { team, personOf }: LineContext) => ({
  created_by_key: incident.createdByKey,
  first_acted_at: incident.firstActedAt,
  status_changed_at: incident.statusChangedAt,
  archived_at: incident.archivedAt,
  unhandled_alert: incident.isUnhandledAlert,
  team,
  ...namedProperties(TRANSFERRED, incident),
  moments: namedProperties(TRANSFERRED_MOMENTS, incident),
  people: {
    manager: incident.incidentManager === '' ? null : personOf(incident.incidentManager),
    responders: incident.incidentResponders.map(personOf),
    roles: Object.fromEntries(
      Object.entries(incident.roles).map(([key, holders]) => [key, holders.map(personOf)] as const),
    ),
  },
});

/** What an export has of an event. */
export interface ExportedEvent
  extends
    Omit<TimelineEventProperties, 'groupId'>,
    Pick<TimelineEvent, 'id' | 'source' | 'sourceRef' | 'createdBy' | 'createdByKey'> {
  externalId: string | null;
  /** The name of its group. */
  group: string | null;
}

/** What an export has of a changelog entry. */
export interface ExportedChange {
  id: number;
  actor: string;
  keyName: string | null;
  keyPrefix: string | null;
  changedAt: Instant;
  changes: readonly Change[];
}

type PersonContext = Pick<LineContext, 'personOf'>;

export const eventItemOf = (event: ExportedEvent, { personOf }: PersonContext) => ({
  external_id: event.externalId ?? ownIdOf(event.id),
  type: event.type,
  body: event.body,
  started_at: event.startedAt,
  author: personOf(event.createdBy),
  created_by_key: event.createdByKey,
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

/** A picture of an event, whose bytes a request to import it has. */
export const pictureLineOf = (
  { eventId, eventExternalId, filename, contentType, content }: ExportedPicture,
  incident: Incident,
  { workspace }: Pick<LineContext, 'workspace'>,
) => ({
  kind: 'picture',
  external: externalOf(incident.externalId, { workspace, reference: humanId(incident.number) }),
  event: eventExternalId ?? ownIdOf(eventId),
  filename,
  content_type: contentType,
  data: content.toString('base64'),
});

/** What an export has of a picture. */
export interface ExportedPicture {
  id: number;
  eventId: number;
  eventExternalId: string | null;
  filename: string;
  contentType: string;
  content: Buffer;
}

export const followUpItemOf = (followUp: FollowUp, { personOf }: PersonContext) => ({
  external_id: followUp.externalId ?? ownIdOf(followUp.id),
  title: followUp.title,
  description: followUp.description,
  owner: followUp.owner === '' ? null : personOf(followUp.owner),
  due_on: followUp.dueOn,
  status: followUp.status,
  external_url: followUp.externalUrl,
  created_at: followUp.createdAt,
  author: personOf(followUp.createdBy),
  completed_at: followUp.completedAt,
  updated_at: followUp.updatedAt,
});

export const postmortemItemOf = (written: WrittenPostmortem, { personOf }: PersonContext) => ({
  state: written.state,
  sections: written.sections.map(({ key, title, body }) => ({ key, title, body })),
  created_at: written.createdAt,
  author: personOf(written.createdBy),
  updated_at: written.updatedAt,
  updated_by: personOf(written.updatedBy),
  in_review_at: written.inReviewAt,
  in_review_by: written.inReviewBy === null ? null : personOf(written.inReviewBy),
  published_at: written.publishedAt,
  published_by: written.publishedBy === null ? null : personOf(written.publishedBy),
});

/** What an export has of a relation, and of the other incident. */
export type ExportedRelation = Pick<Relation, 'id' | 'type' | 'createdAt' | 'createdBy'> &
  Pick<Incident, 'number' | 'externalId'>;

export const relationItemOf = (relation: ExportedRelation, { workspace, personOf }: LineContext) => ({
  type: relation.type,
  external: externalOf(relation.externalId, { workspace, reference: humanId(relation.number) }),
  created_at: relation.createdAt,
  author: personOf(relation.createdBy),
});

export const changeItemOf = (entry: ExportedChange, { personOf }: PersonContext) => ({
  changed_at: entry.changedAt,
  actor: personOf(entry.actor),
  api_key: keyOf(entry),
  changes: entry.changes,
});
