import { isDeepStrictEqual } from 'node:util';
import { invalid } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { fold } from './fold.ts';

/** What a client sets. Empty text means "none". */
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

/** Where something that an event says comes from; by the names that the API has for it. */
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

/** An event as it is kept (contract: Timeline). */
export interface TimelineEvent extends TimelineEventProperties {
  id: number;
  incidentId: number;
  revision: number;
  /** The system or actor that made it. */
  source: string;
  sourceRef: string;
  /** How many times title or body have been other ones, the first included. */
  collaborationGeneration: number;
  aiContext: string;
  createdBy: string;
  commentCount: number;
  sourceWindowStartedAt: Instant | null;
  sourceWindowEndedAt: Instant | null;
  evidenceLinks: readonly EvidenceLink[];
}

export type NewTimelineEvent = Omit<TimelineEvent, 'id'>;

/** The longest texts, in code points, and the most tags (contract: Timeline). */
export const TIMELINE_LIMITS = { body: 65_536, title: 255, type: 64, tags: 50, tag: 64 } as const;

/** The type of a suggestion, which lists can leave out. */
export const SUGGESTION = 'ai_suggested';

/** The types that only the service gives. */
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

export interface Recording {
  incidentId: number;
  source: string;
  by: string;
  properties: Partial<TimelineEventProperties> & Pick<TimelineEventProperties, 'startedAt' | 'body'>;
}

/** A new event, with what is not said of it left at its default. */
export function record({ incidentId, source, by, properties }: Recording): NewTimelineEvent {
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
    createdBy: by,
    commentCount: 0,
    sourceWindowStartedAt: null,
    sourceWindowEndedAt: null,
    evidenceLinks: [],
  };
  checkSpan(event, properties);
  return event;
}

/**
 * The event after an edit; the very same where the edit changes nothing.
 * @throws DomainError `invalid_request` for a reserved type that it does not have already, and for an impossible span
 */
export function edit(event: TimelineEvent, change: Partial<TimelineEventProperties>): TimelineEvent {
  const edited = { ...event, ...change };
  if (edited.type !== event.type && isReservedType(edited.type)) throw invalid('type', 'The type is reserved');
  checkSpan(edited, change);
  if (isDeepStrictEqual(edited, event)) return event;
  const isRewritten = edited.title !== event.title || edited.body !== event.body;
  return {
    ...edited,
    revision: event.revision + 1,
    collaborationGeneration: event.collaborationGeneration + (isRewritten ? 1 : 0),
  };
}

/** Names the side of the span that the request set. */
function checkSpan(
  { startedAt, endedAt, isOngoing }: Pick<TimelineEventProperties, 'startedAt' | 'endedAt' | 'isOngoing'>,
  said: Partial<TimelineEventProperties>,
): void {
  if (endedAt === null) return;
  if (isOngoing) throw invalid('is_ongoing', 'An event that has ended does not go on');
  if (endedAt < startedAt) {
    throw invalid(said.endedAt === undefined ? 'started_at' : 'ended_at', 'The event must not end before it starts');
  }
}

const SUMMARY_LENGTH = 140;

/** An event in a line: its title, else the beginning of its body. */
export function summaryOf({ title, body }: Pick<TimelineEvent, 'title' | 'body'>): string {
  return title === '' ? [...body.slice(0, 2 * SUMMARY_LENGTH)].slice(0, SUMMARY_LENGTH).join('') : title;
}
