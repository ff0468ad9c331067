import { fold } from '@tocsin/schemas';
import { column, type ColumnsOf, listedColumns, rowMapping } from '@tocsin/versioned-resources';
import type { NewTimelineEvent, TimelineEvent } from '../domain/timeline-event.ts';

/** The columns of `timeline_events` that hold an event. */
const COLUMNS = {
  id: column('id', 'bigint'),
  incidentId: column('incident_id', 'bigint'),
  revision: column('revision', 'bigint'),
  startedAt: column('started_at', 'timestamptz'),
  endedAt: column('ended_at', 'timestamptz'),
  isOngoing: column('is_ongoing', 'boolean'),
  groupId: column('group_id', 'bigint'),
  isKey: column('is_key', 'boolean'),
  source: column('source', 'text'),
  sourceRef: column('source_ref', 'text'),
  type: column('type', 'text'),
  icon: column('icon', 'text'),
  title: column('title', 'text'),
  body: column('body', 'text'),
  collaborationGeneration: column('collaboration_generation', 'bigint'),
  tags: column('tags', 'text[]'),
  aiContext: column('ai_context', 'text'),
  createdBy: column('created_by', 'text'),
  createdByKey: column('created_by_key', 'jsonb'),
  commentCount: column('comment_count', 'bigint'),
  sourceWindowStartedAt: column('source_window_started_at', 'timestamptz'),
  sourceWindowEndedAt: column('source_window_ended_at', 'timestamptz'),
  evidenceLinks: column('evidence_links', 'jsonb'),
  externalId: column('external_id', 'text'),
  editedBy: column('edited_by', 'text'),
  editedAt: column('edited_at', 'timestamptz'),
  editedKeyName: column('edited_key_name', 'text'),
  editedKeyPrefix: column('edited_key_prefix', 'text'),
} as const satisfies ColumnsOf<TimelineEvent>;

/** Names of columns and properties of events. */
export const timelineMapping = rowMapping<TimelineEvent, typeof COLUMNS>(COLUMNS);

/** A select list whose rows are events. */
export const TIMELINE_SELECTION = timelineMapping.selection;

/** The select list of timelines. Its rows are listed events. */
export const LISTED_TIMELINE_COLUMNS = listedColumns({
  table: 'timeline_events',
  names: timelineMapping.names,
  as: timelineMapping.propertyOf,
  large: { body: 'text' },
});

/** Bindable values of an event without its ID, and of the folded texts that searches compare, by column. */
export function toTimelineColumns(event: NewTimelineEvent): Record<string, unknown> {
  return { ...timelineMapping.toRow({ ...event, id: undefined }), ...foldedColumns(event) };
}

/** An event without its ID as JSON, of which `insertRows` makes a row. */
export const toTimelineRow = (workspaceId: number, event: NewTimelineEvent): Record<string, unknown> => ({
  ...toTimelineColumns(event),
  workspace_id: workspaceId,
  created_by_key: event.createdByKey,
  evidence_links: event.evidenceLinks,
});

type Texts = Pick<NewTimelineEvent, 'source' | 'type' | 'tags' | 'title' | 'body' | 'aiContext'>;

const foldedColumns = ({ source, type, tags, title, body, aiContext }: Texts) => ({
  source_folded: fold(source),
  type_folded: fold(type),
  tags_folded: tags.map(fold),
  texts_folded: [title, body, aiContext, tags.join(' ')].map(fold),
});
