import type { RecordedKey } from '@tocsin/schemas';
import { type Instant, knownTimeZone } from '@tocsin/runtime';
import { getValue, humanId } from '../../incidents/domain/incident.ts';
import type { EvidenceLink } from '../../timeline/domain/timeline-event.ts';
import type { Entry } from '../domain/activity.ts';
import { measuresOf, momentsOf } from '../domain/moments.ts';
import { idIn } from '../domain/names.ts';
import { changeTexts, type Labels, labelOf, personName, valueText } from '../domain/texts.ts';
import type { Section, WrittenPostmortem } from '../domain/written.ts';
import type { PostmortemFacts } from '../read-postmortem.ts';
import type { FormerPostmortem } from '../store/written-store.ts';
import type { EntryWire, FormerWire, PostmortemWire, WrittenWire } from './wire.ts';

/** Returns the parts of a post-mortem as the API shows them. */
export function postmortemView(facts: PostmortemFacts, now: Instant): PostmortemWire {
  const { incident, configuration, fields, teamNames, tier, head, tail, attachments, leftOut } = facts;
  const person = (stored: string) => personView(stored, null, facts);
  const activity = [...head, ...tail];
  const measures = measuresOf(incident);
  return {
    incident_id: incident.id,
    human_id: humanId(incident.number),
    revision: incident.revision,
    generated_at: now,
    time_zone: knownTimeZone(configuration.timeZone),
    title: incident.title,
    summary: incident.impactSummary,
    status: { key: incident.status, label: labelOf(configuration.statuses, incident.status) },
    severity: { key: incident.severity, label: labelOf(configuration.severities, incident.severity) },
    customer_impact_status: incident.customerImpactStatus,
    regions: [...incident.regions],
    moments: momentsOf(incident).map(({ sincePrevious, ...moment }) => ({
      ...moment,
      seconds_since_previous: sincePrevious,
    })),
    response_seconds: measures.response,
    recovery_seconds: measures.recovery,
    people: [
      ...(incident.incidentManager === ''
        ? []
        : [{ role: 'incident_manager' as const, person: person(incident.incidentManager) }]),
      ...incident.incidentResponders.map((stored) => ({ role: 'responder' as const, person: person(stored) })),
      ...Object.entries(incident.roles).flatMap(([key, holders]) =>
        holders.map((stored) => ({
          ...{ role: 'role_holder' as const, label: labelOf(configuration.incidentRoles, key) },
          person: person(stored),
        })),
      ),
      { role: 'declared_by', person: personView(incident.createdBy, incident.createdByKey, facts) },
    ],
    team:
      incident.teamId === null
        ? null
        : { id: incident.teamId, name: teamNames.get(incident.teamId) ?? String(incident.teamId) },
    services: incident.service === '' ? [] : [{ slug: incident.service, tier }],
    custom_fields: fields.all.flatMap((field) => {
      const value = getValue(incident.customFields, field.slug);
      return value === null ? [] : [{ slug: field.slug, name: field.name, text: valueText(value, field) }];
    }),
    activity: activity.map((entry) => entryView(entry, facts)),
    relations: facts.relations.map(({ type, related }) => ({
      ...{ type, incident_id: related.id, human_id: humanId(related.number), title: related.title },
      status: { key: related.status, label: labelOf(configuration.statuses, related.status) },
    })),
    follow_ups: facts.followUps.map(({ id, title, status, owner, dueOn, externalUrl }) => ({
      ...{ id, title, status, owner: owner === '' ? null : person(owner), due_on: dueOn, external_url: externalUrl },
    })),
    links: [
      ...[
        { label: 'Document', url: incident.docUrl },
        { label: 'Video meeting', url: incident.meetUrl },
        { label: 'Imported from', url: incident.externalUrl },
      ]
        .filter(({ url }) => url !== '')
        .map((link) => ({ ...link, summary: '', timeline_event_id: null })),
      ...activity.flatMap((entry) =>
        entry.kind === 'change' ? [] : entry.event.evidenceLinks.map((link) => evidenceView(link, entry.id)),
      ),
    ],
    attachments: attachments.map(({ id, eventId, filename, sizeBytes }) => ({
      ...{ id, timeline_event_id: eventId, filename, size_bytes: sizeBytes },
    })),
    left_out:
      leftOut.events + leftOut.changes + leftOut.attachments === 0
        ? null
        : {
            after: head.length,
            timeline_events: leftOut.events,
            changes: leftOut.changes,
            attachments: leftOut.attachments,
          },
  };
}

const personView = (stored: string, key: RecordedKey | null, labels: Pick<Labels, 'userNames'>) => ({
  id: idIn(stored)[0] ?? null,
  name: personName(stored, labels),
  api_key: key,
});

const evidenceView = ({ source, url, label, summary = '' }: EvidenceLink, eventId: number) => ({
  ...{ label: label ?? source, url, summary, timeline_event_id: eventId },
});

function entryView(entry: Entry, labels: Labels): EntryWire {
  const { kind, id, at } = entry;
  if (kind === 'change') {
    return {
      ...{ kind, id, at, ended_at: null, type: 'change', is_key: false, title: '', body: '', tags: [] },
      author: personView(entry.actor, entry.key, labels),
      changes: entry.changes.map((change) => ({ field: change.field, ...changeTexts(change, labels) })),
    };
  }
  const { endedAt, type, isKey, createdBy, createdByKey, title, body, tags } = entry.event;
  return {
    ...{ kind, id, at, ended_at: endedAt, type, is_key: isKey, title, body, tags: [...tags], changes: [] },
    author: personView(createdBy, createdByKey, labels),
  };
}

export const writtenView = (written: WrittenPostmortem): WrittenWire => ({
  incident_id: written.incidentId,
  ...formerView(written),
  sections: sectionsView(written.sections),
  created_at: written.createdAt,
  created_by: written.createdBy,
  created_by_key: written.createdByKey,
  in_review_at: written.inReviewAt,
  in_review_by: written.inReviewBy,
  published_at: written.publishedAt,
  published_by: written.publishedBy,
});

/** The database does not keep the order of properties. */
export const sectionsView = (sections: readonly Section[]): WrittenWire['sections'] =>
  sections.map(({ key, title, body }) => ({ key, title, body }));

/** What a revision was, without its sections. */
export const formerView = (former: Omit<FormerPostmortem, 'sections'>): FormerWire => ({
  revision: former.revision,
  state: former.state,
  updated_at: former.updatedAt,
  updated_by: former.updatedBy,
  updated_by_key: former.updatedByKey,
});
