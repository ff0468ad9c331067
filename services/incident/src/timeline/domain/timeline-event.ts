import { fold } from '@tocsin/contracts';
import { isDeepStrictEqual } from 'node:util';
import { invalidRequest } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

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

/** A source of an event's content, with the names of the API. */
interface EvidenceLink {
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
  commentCount: number;
  sourceWindowStartedAt: Instant | null;
  sourceWindowEndedAt: Instant | null;
  evidenceLinks: readonly EvidenceLink[];
}

export type NewTimelineEvent = Omit<TimelineEvent, 'id'>;

/** Maximum lengths in code points, and the maximum number of tags (contract: Timeline). */
export const TIMELINE_LIMITS = { body: 65_536, title: 255, type: 64, tags: 50, tag: 64 } as const;

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

export interface NewTimelineEventInput {
  incidentId: number;
  source: string;
  createdBy: string;
  properties: Partial<TimelineEventProperties> & Pick<TimelineEventProperties, 'startedAt' | 'body'>;
}

/** Returns a new event with defaults for missing properties. @throws DomainError `invalid_request` for an invalid span */
export function newTimelineEvent({
  incidentId,
  source,
  createdBy,
  properties,
}: NewTimelineEventInput): NewTimelineEvent {
  const event = {
    endedAt: null,
    isOngoing: false,
    groupId: null,
    isKey: false,
    type: 'note',
    icon: '',
    title: '',
    tags: [],
    ...properties,
    incidentId,
    revision: 1,
    source,
    sourceRef: '',
    collaborationGeneration: 1,
    aiContext: '',
    createdBy: createdBy,
    commentCount: 0,
    sourceWindowStartedAt: null,
    sourceWindowEndedAt: null,
    evidenceLinks: [],
  };
  checkSpan(event, properties);
  return event;
}

/**
 * Returns the event after an edit; the same object if the edit changes nothing.
 * @throws DomainError `invalid_request` for a new type that is reserved, or an invalid span
 */
export function edit(event: TimelineEvent, change: Partial<TimelineEventProperties>): TimelineEvent {
  const edited = { ...event, ...change };
  if (edited.type !== event.type && isReservedType(edited.type))
    throw invalidRequest('type', 'Must not be a reserved type');
  checkSpan(edited, change);
  if (isDeepStrictEqual(edited, event)) return event;
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
