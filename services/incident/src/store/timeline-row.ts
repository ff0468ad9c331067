import type { Instant } from '@tocsin/runtime';
import { fold } from '../domain/fold.ts';
import type { EvidenceLink, NewTimelineEvent, TimelineEvent } from '../domain/timeline-event.ts';

/** A row of `timeline_events`, as far as the resource needs it. */
export interface TimelineRow {
  id: number;
  incident_id: number;
  revision: number;
  started_at: Instant;
  ended_at: Instant | null;
  is_ongoing: boolean;
  group_id: number | null;
  is_key: boolean;
  source: string;
  source_ref: string;
  type: string;
  icon: string;
  title: string;
  body: string;
  collaboration_generation: number;
  tags: string[];
  ai_context: string;
  created_by: string;
  comment_count: number;
  source_window_started_at: Instant | null;
  source_window_ended_at: Instant | null;
  evidence_links: EvidenceLink[];
}

/** Which column holds which property. */
const COLUMN_OF = {
  id: 'id',
  incidentId: 'incident_id',
  revision: 'revision',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  isOngoing: 'is_ongoing',
  groupId: 'group_id',
  isKey: 'is_key',
  source: 'source',
  sourceRef: 'source_ref',
  type: 'type',
  icon: 'icon',
  title: 'title',
  body: 'body',
  collaborationGeneration: 'collaboration_generation',
  tags: 'tags',
  aiContext: 'ai_context',
  createdBy: 'created_by',
  commentCount: 'comment_count',
  sourceWindowStartedAt: 'source_window_started_at',
  sourceWindowEndedAt: 'source_window_ended_at',
  evidenceLinks: 'evidence_links',
} as const satisfies Record<keyof TimelineEvent, keyof TimelineRow>;

export const TIMELINE_COLUMNS = Object.values(COLUMN_OF);

const PROPERTIES = Object.entries(COLUMN_OF) as [keyof TimelineEvent, keyof TimelineRow][];

export function toTimelineEvent(row: TimelineRow): TimelineEvent {
  return Object.fromEntries(
    PROPERTIES.map(([property, column]) => [property, row[column]]),
  ) as unknown as TimelineEvent;
}

/** A whole event's columns, what it is found by included. */
export function toTimelineColumns(event: NewTimelineEvent): Record<string, unknown> {
  const { source, type, tags, title, body, aiContext, evidenceLinks } = event;
  const values: Partial<TimelineEvent> = event;
  return {
    ...Object.fromEntries(
      PROPERTIES.filter(([property]) => property !== 'id').map(([property, column]) => [column, values[property]]),
    ),
    evidence_links: JSON.stringify(evidenceLinks),
    source_folded: fold(source),
    type_folded: fold(type),
    tags_folded: tags.map(fold),
    texts_folded: [title, body, aiContext, tags.join(' ')].map(fold),
  };
}
