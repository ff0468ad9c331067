import { fold, type RecordedKey, type TimelineEventSnapshot } from '@tocsin/schemas';
import { invalidRequest, jsonEqual, quotaExceeded } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { shortenValue } from '../../incidents/domain/large-value.ts';
import type { Incident } from '../../incidents/domain/incident.ts';

/** The properties that a client sets. Empty text means none. */
export interface TimelineEventProperties {
  startedAt: Instant;
  endedAt: Instant | null;
  isOngoing: boolean;
  groupId: number | null;
  isKey: boolean;
  type: string;
  icon: string;
  title: string;
  body: string;
  tags: readonly string[];
}

/** What a client gives of an event; an import brings no links. */
export type TimelineEventInput = Partial<TimelineEventProperties> & {
  /** Those of people: others are the service's, and stay. */
  evidenceLinks?: readonly EvidenceLink[];
};

/** A source of an event's content, with the names of the API. */
export interface EvidenceLink {
  source: string;
  url: string;
  label?: string;
  summary?: string;
  artifact_id?: string;
  artifact_digest?: string;
  result_bytes?: number;
  truncated?: boolean;
}

/** A timeline event (contract: Timeline). */
export interface TimelineEvent extends TimelineEventProperties {
  id: number;
  incidentId: number;
  revision: number;
  /** The system or actor that created it. */
  source: string;
  sourceRef: string;
  /** 1 plus the number of changes of title or body. */
  collaborationGeneration: number;
  aiContext: string;
  createdBy: string;
  /** The API key that created it; null: not known, or an import brought it. */
  createdByKey: RecordedKey | null;
  commentCount: number;
  sourceWindowStartedAt: Instant | null;
  sourceWindowEndedAt: Instant | null;
  evidenceLinks: readonly EvidenceLink[];
  /** In the system that an import brought it from; null: it was created here. */
  externalId: string | null;
  /** Who changed it last, when, and the API key that was used, as it was then; null: nobody, or none. */
  editedBy: string | null;
  editedAt: Instant | null;
  editedKeyName: string | null;
  editedKeyPrefix: string | null;
}

export type NewTimelineEvent = Omit<TimelineEvent, 'id'>;

/** Maximum lengths in code points, and the maximum number of tags (contract: Timeline). */
export const TIMELINE_LIMITS = {
  body: 65_536,
  title: 255,
  type: 64,
  tags: 50,
  tag: 64,
  links: 20,
  label: 255,
  summary: 1_000,
} as const;

/** The source of links that clients give. */
export const PERSON = 'person';

/** The type of a suggestion, which lists can exclude. */
export const SUGGESTION = 'ai_suggested';

/** The types that only the service assigns. */
const RESERVED_TYPES: ReadonlySet<string> = new Set([
  SUGGESTION,
  'investigation',
  'resolution',
  'closure',
  'reopening',
  'status_change',
  'import',
]);

export const isReservedType = (type: string) => RESERVED_TYPES.has(fold(type));

/** What a new event has unless it is given. */
export const NEW_EVENT = {
  endedAt: null,
  isOngoing: false,
  groupId: null,
  isKey: false,
  type: 'note',
  icon: '',
  title: '',
  tags: [],
  sourceRef: '',
  createdByKey: null,
  aiContext: '',
  commentCount: 0,
  sourceWindowStartedAt: null,
  sourceWindowEndedAt: null,
  evidenceLinks: [],
  editedBy: null,
  editedAt: null,
  editedKeyName: null,
  editedKeyPrefix: null,
} as const satisfies Partial<TimelineEvent>;

interface NewTimelineEventInput extends Pick<TimelineEvent, 'incidentId' | 'source' | 'createdBy' | 'createdByKey'> {
  properties: TimelineEventInput & Pick<TimelineEventProperties, 'startedAt' | 'body'>;
}

/** Returns a new event. @throws DomainError `invalid_request` for an invalid span */
export function newTimelineEvent({ properties, ...given }: NewTimelineEventInput): NewTimelineEvent {
  const event = { ...NEW_EVENT, revision: 1, collaborationGeneration: 1, externalId: null, ...properties, ...given };
  checkSpan(event, properties);
  return event;
}

/**
 * Returns the event after an edit; the same object if the edit changes nothing.
 * @param hasOtherPictures whether something changes that the event does not contain
 * @throws DomainError `invalid_request` for a new type that is reserved, or an invalid span
 */
export function edit(event: TimelineEvent, change: TimelineEventInput, hasOtherPictures = false): TimelineEvent {
  const { evidenceLinks: links } = change;
  const ofService = event.evidenceLinks.filter(({ source }) => source !== PERSON);
  const edited = {
    ...event,
    ...change,
    evidenceLinks: links === undefined ? event.evidenceLinks : [...ofService, ...links],
  };
  if (edited.type !== event.type && isReservedType(edited.type))
    throw invalidRequest('type', 'Must not be a reserved type');
  checkSpan(edited, change);
  if (jsonEqual(edited, event) && !hasOtherPictures) return event;
  const isRewritten = edited.title !== event.title || edited.body !== event.body;
  return {
    ...edited,
    revision: event.revision + 1,
    collaborationGeneration: event.collaborationGeneration + (isRewritten ? 1 : 0),
  };
}

/** The error names the end of the span that the request sets. @throws DomainError `invalid_request` */
export function checkSpan(
  { startedAt, endedAt, isOngoing }: Pick<TimelineEventProperties, 'startedAt' | 'endedAt' | 'isOngoing'>,
  changes: Partial<TimelineEventProperties>,
): void {
  if (endedAt === null) return;
  if (isOngoing) throw invalidRequest('is_ongoing', 'Must not be true for an event that has ended');
  if (endedAt < startedAt) {
    throw invalidRequest(
      changes.endedAt === undefined ? 'started_at' : 'ended_at',
      'The event must not end before it starts',
    );
  }
}

const SUMMARY_LENGTH = 140;

/** Returns the title of an event, else the beginning of its body. */
export function summaryOf({ title, body }: Pick<TimelineEvent, 'title' | 'body'>): string {
  return title === '' ? [...body.slice(0, 2 * SUMMARY_LENGTH)].slice(0, SUMMARY_LENGTH).join('') : title;
}

/** Where the changelog has the changes of an event. */
export const placeOfEvent = ({ id }: Pick<TimelineEvent, 'id'>) => `timeline_events.${id}`;

/** Returns a timeline event as events contain it. */
export function timelineEventSnapshot(event: TimelineEvent): TimelineEventSnapshot {
  return {
    id: event.id,
    revision: event.revision,
    started_at: event.startedAt,
    ended_at: event.endedAt,
    is_ongoing: event.isOngoing,
    group_id: event.groupId,
    is_key: event.isKey,
    source: event.source,
    source_ref: shortenValue(event.sourceRef),
    type: event.type,
    icon: event.icon,
    title: event.title,
    body: shortenValue(event.body),
    collaboration_generation: event.collaborationGeneration,
    tags: shortenValue([...event.tags]),
    ai_context: shortenValue(event.aiContext),
    created_by: event.createdBy,
    created_by_key: event.createdByKey,
    source_window_started_at: event.sourceWindowStartedAt,
    source_window_ended_at: event.sourceWindowEndedAt,
    evidence_links: shortenValue([...event.evidenceLinks]),
    imported: event.externalId !== null,
  };
}

/** Notes of lifecycle operations beyond the quota: a full timeline must not keep anybody from resolving with a note. */
const NOTES_BEYOND = 1_000;

type Timeline = Pick<Incident, 'eventCount'>;

const exceeded = (quota: number) =>
  quotaExceeded('timeline_events', `at most ${quota} timeline events in one incident`);

/**
 * Checks that a locked incident may have another event (contract: Quotas).
 * @param quota null: unlimited
 * @throws DomainError `invalid_resource_state`
 */
export function checkRoomForEvent({ eventCount }: Timeline, quota: number | null): void {
  if (quota !== null && eventCount >= quota) throw exceeded(quota);
}

/** As `checkRoomForEvent`, for the note of a lifecycle operation. */
export function checkRoomForNote({ eventCount }: Timeline, quota: number | null): void {
  if (quota !== null && eventCount >= quota + NOTES_BEYOND) throw exceeded(quota);
}

/** Returns the first events, as many as the incident may have. @throws DomainError if it may have none */
export function limitToQuota<Event>({ eventCount }: Timeline, events: readonly Event[], quota: number | null): Event[] {
  checkRoomForEvent({ eventCount }, quota);
  return events.slice(0, quota === null ? events.length : quota - eventCount);
}
