import {
  boundedText,
  instant,
  MAX_ALTERNATIVES,
  MAX_FILTER_TEXT,
  MAX_RAW_LIST,
  MAX_SEARCHED_TEXT,
  timestampInput,
  trimmedText,
} from '@tocsin/contracts';
import { normaliseList, pageQuery, pagination } from '@tocsin/http';
import { z } from 'zod';
import { isReservedType, TIMELINE_LIMITS } from '../domain/timeline-event.ts';
import { UNGROUPED } from '../domain/timeline-filters.ts';
import { id } from './wire.ts';

const count = z.int().min(0);

const attachment = z
  .strictObject({
    id,
    timeline_event_id: id,
    filename: z.string(),
    url: z.string().meta({ description: 'Valid for 15 minutes; empty if the file is not available' }),
    url_available: z.boolean(),
    content_type: z.string(),
    size_bytes: count,
    created_at: instant,
    created_by: z.string(),
  })
  .meta({ id: 'TimelineAttachment' });

const evidenceLink = z
  .strictObject({
    source: z.string(),
    url: z.string(),
    label: z.string().optional(),
    summary: z.string().optional(),
    artifact_id: z.string().optional(),
    artifact_digest: z.string().optional(),
    result_bytes: count.optional(),
    truncated: z.boolean().optional(),
  })
  .meta({ id: 'EvidenceLink' });

/** The timeline event resource (contract: Timeline); every property is always present. */
export const timelineEvent = z
  .strictObject({
    id,
    revision: id,
    incident_id: id,
    started_at: instant,
    at: instant.meta({ deprecated: true, description: 'Former name of started_at' }),
    ended_at: instant.nullable(),
    is_ongoing: z.boolean(),
    group_id: id.nullable(),
    is_key: z.boolean(),
    source: z.string(),
    source_ref: z.string(),
    type: z.string(),
    icon: z.string(),
    title: z.string(),
    body: z.string(),
    collaboration_generation: id,
    tags: z.array(z.string()),
    ai_context: z.string(),
    created_by: z.string(),
    comment_count: count,
    attachments: z.array(attachment),
    source_window_started_at: instant.nullable(),
    source_window_ended_at: instant.nullable(),
    evidence_links: z.array(evidenceLink),
  })
  .meta({ id: 'TimelineEvent' });

export type TimelineEventWire = z.infer<typeof timelineEvent>;

export const timelineEventReply = z.strictObject({ event: timelineEvent });

const counts = z.record(z.string(), count);

/** A page of a timeline; the last two properties are deprecated copies from `pagination`. */
export const timelinePage = z.strictObject({
  events: z.array(timelineEvent),
  filter_counts: z.strictObject({
    all_events: count,
    type_counts: counts,
    source_counts: counts,
    tag_counts: counts,
  }),
  matched_count: count,
  latest_started_at: instant.nullable(),
  pagination,
  has_more: z.boolean(),
  next_cursor: z.string().optional(),
});

export const timelineQuery = z.strictObject({
  ...pageQuery,
  order: z.enum(['asc', 'desc']).optional().meta({ description: 'The order by started_at and id; default: asc' }),
  type_or_source: boundedText(MAX_FILTER_TEXT)
    .optional()
    .meta({ description: 'A type or a source, case-insensitive; ai matches everything that AI created' }),
  tag: z.array(boundedText(MAX_FILTER_TEXT)).max(MAX_ALTERNATIVES).optional(),
  key_only: z.boolean().optional(),
  group: z
    .array(boundedText(MAX_FILTER_TEXT).refine(isGroup, `Must be the ID of a group or ${UNGROUPED}`))
    .max(MAX_ALTERNATIVES)
    .optional()
    .meta({ description: `IDs of groups; ${UNGROUPED} for events in no group` }),
  q: boundedText(MAX_SEARCHED_TEXT)
    .optional()
    .meta({ description: 'Text to find in title, body, AI context, tags or the name of the group' }),
  suggestions: z.enum(['include', 'exclude', 'only']).optional(),
  started_from: timestampInput.optional().meta({ description: 'Inclusive' }),
  started_to: timestampInput.optional().meta({ description: 'Exclusive' }),
});

const type = boundedText(TIMELINE_LIMITS.type)
  .refine((value) => value.trim() !== '', 'Must not be blank')
  .optional();
const body = boundedText(TIMELINE_LIMITS.body).refine((value) => value.trim() !== '', 'Must not be blank');
const tags = z
  .array(trimmedText(TIMELINE_LIMITS.tag))
  .max(MAX_RAW_LIST)
  .refine(
    (values) => normaliseList(values).length <= TIMELINE_LIMITS.tags,
    `Must have at most ${TIMELINE_LIMITS.tags} items`,
  );

const properties = {
  started_at: timestampInput.optional(),
  at: timestampInput.optional().meta({ deprecated: true, description: 'Former name of started_at' }),
  ended_at: timestampInput.nullable().optional(),
  is_ongoing: z.boolean().optional(),
  group_id: id.nullable().optional(),
  is_key: z.boolean().optional(),
  icon: boundedText(8).optional(),
  title: boundedText(TIMELINE_LIMITS.title).optional(),
  tags: tags.optional(),
};

const hasOneStart = ({ at, started_at }: { at?: string | undefined; started_at?: string | undefined }) =>
  at === undefined || started_at === undefined;
const twoStartsViolation = {
  path: ['at'],
  error: 'Must not be given together with started_at; it is the former name of started_at',
};

export const newTimelineEvent = z
  .strictObject({
    body,
    ...properties,
    type: type.refine((value) => value === undefined || !isReservedType(value.trim()), 'Must not be a reserved type'),
    source: boundedText(MAX_FILTER_TEXT).optional().meta({ description: 'Ignored; the source is always api' }),
  })
  .refine(hasOneStart, twoStartsViolation)
  .meta({ id: 'NewTimelineEvent' });
export type NewTimelineEventWire = z.infer<typeof newTimelineEvent>;

export const timelineEventPatch = z
  .strictObject({ body: body.optional(), ...properties, type })
  .refine(hasOneStart, twoStartsViolation)
  .meta({ id: 'TimelineEventPatch' });
export type TimelineEventPatch = z.infer<typeof timelineEventPatch>;

function isGroup(text: string): boolean {
  return text === UNGROUPED || (/^\d+$/.test(text) && Number(text) >= 1 && Number.isSafeInteger(Number(text)));
}
