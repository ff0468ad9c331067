import {
  boundedText,
  instant,
  MAX_ALTERNATIVES,
  MAX_FILTER_TEXT,
  MAX_RAW_LIST,
  MAX_SEARCHED_TEXT,
  recordedKey,
  shownText,
  timestampInput,
  trimmedText,
} from '@tocsin/schemas';
import { normaliseList, pageQuery, pagination, schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { isReservedType, PERSON, TIMELINE_LIMITS } from '../domain/timeline-event.ts';
import { UNGROUPED } from '../domain/timeline-filters.ts';
import { PICTURE_LIMITS } from '../../pictures/domain/picture.ts';
import { id, webAddress } from '../../incidents/domain/property-kinds.ts';

const count = z.int().min(0);

const attachment = z
  .strictObject({
    id: id.meta({ description: 'Identifies the attachment' }),
    timeline_event_id: id.meta({ description: 'ID of the event that it belongs to' }),
    filename: z.string().meta({ description: 'The name of the file, for people' }),
    url: z.string().meta({
      description:
        'A link to download the file, without a token, valid for 15 minutes, the address of an image that a monitor sent, or the path of a picture in this API; empty if the file is not available',
    }),
    url_available: z
      .boolean()
      .meta({ description: 'Whether url is a link; false also if the installation serves no files' }),
    thumbnail_url: z
      .string()
      .nullable()
      .meta({ description: 'The path of the thumbnail of a picture in this API; null: it is no uploaded picture' }),
    content_type: z
      .string()
      .meta({ description: 'The media type of the file, such as `image/png`; `image/*` if a monitor has not said it' }),
    size_bytes: count.meta({ description: 'The size of the file in bytes; 0 if it is not known' }),
    created_at: instant.meta({ description: 'When the file was attached' }),
    created_by: z.string().meta({ description: 'ID, as text, of the user who attached it, or the name of a system' }),
  })
  .meta({ id: 'TimelineAttachment' });

const evidenceLink = z
  .strictObject({
    source: z.string().meta({ description: 'The system where the evidence is; `person`: a client gave the link' }),
    url: z.string().meta({ description: 'The absolute URL of the evidence' }),
    label: z.string().optional().meta({ description: 'A short name for the link; absent without one' }),
    summary: z.string().optional().meta({ description: 'What the evidence shows; absent without one' }),
    artifact_id: z
      .string()
      .optional()
      .meta({ description: 'The ID of a stored copy of the evidence; absent without one' }),
    artifact_digest: z.string().optional().meta({ description: 'The digest of that copy; absent without one' }),
    result_bytes: count.optional().meta({ description: 'The size of the evidence in bytes; absent if unknown' }),
    truncated: z.boolean().optional().meta({ description: 'Whether the evidence was cut off; absent if unknown' }),
  })
  .meta({ id: 'EvidenceLink' });

/** The timeline event resource (contract: Timeline); every property is always present. */
export const timelineEvent = z
  .strictObject({
    id: id.meta({ description: 'Identifies the event in paths; unique in the installation' }),
    revision: id.meta({ description: 'Starts at 1 and increases with every change; a PATCH must send it' }),
    incident_id: id.meta({ description: 'ID of the incident' }),
    started_at: instant.meta({ description: 'When it happened or began; with the ID, the order of the timeline' }),
    at: instant.meta({ deprecated: true, description: 'Former name of started_at, with the same value' }),
    ended_at: instant.nullable().meta({ description: 'When it ended; null: not known, or a single moment' }),
    is_ongoing: z.boolean().meta({ description: 'Whether it still goes on; never true with ended_at' }),
    group_id: id.nullable().meta({ description: "ID of one of the workspace's timeline groups; null: in none" }),
    is_key: z.boolean().meta({ description: 'Whether people marked it as a key event' }),
    source: z
      .string()
      .meta({ description: 'What created the event: `api`, `import` for a timeline import, or another system' }),
    source_ref: z
      .string()
      .meta({ description: 'Where it comes from at its source; for `import` the URL of the document; empty: unknown' }),
    type: z.string().meta({ description: 'What kind of event it is; `note` if nothing else was chosen' }),
    icon: z.string().meta({ description: 'At most 8 Unicode characters, usually one emoji; empty: none' }),
    title: z.string().meta({ description: 'A heading; empty: none' }),
    body: z.string().meta({ description: 'What happened, in any number of lines' }),
    collaboration_generation: id.meta({ description: 'Starts at 1 and increases with every change of title or body' }),
    tags: z
      .array(z.string())
      .meta({ description: 'Texts to find the event by, without blank and repeated ones; empty: none' }),
    ai_context: z.string().meta({ description: 'What AI knows about the event; set by the service only; empty: none' }),
    created_by: z
      .string()
      .meta({ description: 'ID, as text, of the user whose API key created it, or the name of a system' }),
    created_by_key: recordedKey.nullable().meta({
      description: 'The API key, or session, that created it for the user; null: not known, or an import brought it',
    }),
    comment_count: count.meta({ description: 'Number of comments' }),
    attachments: z.array(attachment).meta({ description: 'Files that belong to the event; empty: none' }),
    source_window_started_at: instant
      .nullable()
      .meta({ description: 'Start of the time in which the source looked at data; null: unknown' }),
    source_window_ended_at: instant.nullable().meta({ description: 'End of that time; null: unknown' }),
    evidence_links: z
      .array(evidenceLink)
      .meta({ description: 'Links to what supports the event; set by the service only; empty: none' }),
    imported: z.boolean().meta({
      description:
        'Whether an import of incidents brought it: its type, source, author and times are what another system said',
    }),
    edited_by: z
      .string()
      .nullable()
      .meta({ description: 'ID, as text, of the user who last changed it; null: nobody' }),
    edited_at: instant.nullable().meta({ description: 'When that was; null: never' }),
    edited_api_key: recordedKey
      .nullable()
      .meta({ description: 'The API key, or session, with which the user did that; null: not changed' }),
  })
  .meta({ id: 'TimelineEvent' });

/** What an event was before it was changed or deleted. */
const formerEvent = timelineEvent
  .omit({ attachments: true, comment_count: true })
  .extend({
    attachments: z
      .array(attachment.pick({ id: true, filename: true, content_type: true, size_bytes: true }))
      .meta({ description: 'The files that it had; empty: none, or its revision is older than this property' }),
    deleted_by: z.string().nullable().meta({ description: 'ID, as text, of the user who deleted it; null: changed' }),
    deleted_at: instant.nullable().meta({ description: 'When it was deleted; null: it was changed' }),
    deleted_api_key: recordedKey
      .nullable()
      .meta({ description: 'The API key, or session, with which the user did that; null: changed' }),
  })
  .meta({ id: 'FormerTimelineEvent' });
export type FormerEventWire = z.infer<typeof formerEvent>;

export const formerPage = z.strictObject({
  former: z.array(formerEvent).meta({ description: 'What was, the latest first' }),
  pagination,
});

export type TimelineEventWire = z.infer<typeof timelineEvent>;

export const timelineEventReply = z.strictObject({
  event: schemaReference(timelineEvent, 'The event as it is after the request'),
});

const counts = z.record(z.string(), count);

/** A page of a timeline; the last two properties are deprecated copies from `pagination`. */
export const timelinePage = z.strictObject({
  events: z.array(timelineEvent).meta({ description: 'The events of the page' }),
  filter_counts: z
    .strictObject({
      all_events: count.meta({ description: 'Number of these events' }),
      type_counts: counts.meta({
        description: 'Numbers of events by type; with the sources, the 1,000 that have the most events',
      }),
      source_counts: counts.meta({
        description: 'Numbers of events by source; with the types, the 1,000 that have the most events',
      }),
      tag_counts: counts.meta({ description: 'Numbers of events by tag, of the 1,000 tags that have the most events' }),
    })
    .meta({ description: 'What filters would find, among all events between started_from and started_to' }),
  matched_count: count.meta({ description: 'Number of events that pass all filters, on all pages' }),
  latest_started_at: instant
    .nullable()
    .meta({ description: "Start of the incident's latest event, whatever the filters; null: there is no event" }),
  pagination,
  has_more: z.boolean().meta({ deprecated: true, description: 'The same as pagination.has_more' }),
  next_cursor: z.string().optional().meta({ deprecated: true, description: 'The same as pagination.next_cursor' }),
});

export const timelineQuery = z.strictObject({
  ...pageQuery,
  order: z
    .enum(['asc', 'desc'])
    .optional()
    .meta({ description: 'The order by started_at and id; default: asc', default: 'asc' }),
  type_or_source: boundedText(MAX_FILTER_TEXT).optional().meta({
    description: 'A type or a source, in any case of letters; `ai` finds everything that AI created; default: all',
  }),
  tag: z
    .array(boundedText(MAX_FILTER_TEXT))
    .max(MAX_ALTERNATIVES)
    .optional()
    .meta({ description: 'Tags, in any case of letters; an event must have one of them; default: all events' }),
  key_only: z.boolean().optional().meta({ description: 'Only key events; default: false', default: false }),
  group: z
    .array(
      boundedText(MAX_FILTER_TEXT)
        .refine(isGroup, `Must be the ID of a group or ${UNGROUPED}`)
        .meta({ pattern: `^(?:${UNGROUPED}|[0-9]+)$` }),
    )
    .max(MAX_ALTERNATIVES)
    .optional()
    .meta({
      description: `IDs of groups, and \`${UNGROUPED}\` for events in none; an event must be in one of them; default: all events`,
    }),
  q: boundedText(MAX_SEARCHED_TEXT).optional().meta({
    description:
      'Text that occurs in title, body, AI context, tags or the name of the group, in any case of letters; default: all events',
  }),
  suggestions: z
    .enum(['include', 'exclude', 'only'])
    .optional()
    .meta({ description: 'What to do with events of type `ai_suggested`; default: include', default: 'include' }),
  started_from: timestampInput.optional().meta({ description: 'Events that started then or later' }),
  started_to: timestampInput.optional().meta({ description: 'Events that started earlier' }),
});

const requiredType = shownText(boundedText(TIMELINE_LIMITS.type));
const type = requiredType.optional();
const body = shownText(boundedText(TIMELINE_LIMITS.body)).meta({
  description: 'What happened, in any number of lines; not blank',
});
const tags = z
  .array(trimmedText(TIMELINE_LIMITS.tag))
  .max(MAX_RAW_LIST)
  .refine(
    (values) => normaliseList(values).length <= TIMELINE_LIMITS.tags,
    `Must have at most ${TIMELINE_LIMITS.tags} items`,
  );

const newEvidenceLink = z
  .strictObject({
    source: z.literal(PERSON).optional().meta({ description: 'As it is shown: that a client gave the link' }),
    url: webAddress('url').input.min(1).meta({ description: 'Absolute http or https URL' }),
    label: shownText(boundedText(TIMELINE_LIMITS.label)).optional().meta({ description: 'A short name for the link' }),
    summary: boundedText(TIMELINE_LIMITS.summary).optional().meta({ description: 'What it shows' }),
  })
  .meta({ id: 'NewEvidenceLink' });

/** The texts that an imported event must have. */
export const timelineText = { type: requiredType, body };

/** What a create and a PATCH have in common; the create adds its defaults. */
const properties = {
  started_at: timestampInput.optional().meta({ description: 'When it happened or began' }),
  at: timestampInput
    .optional()
    .meta({ deprecated: true, description: 'Former name of started_at; only one of the two is allowed' }),
  ended_at: timestampInput
    .nullable()
    .optional()
    .meta({ description: 'When it ended, not before started_at; null: not known, or a single moment' }),
  is_ongoing: z.boolean().optional().meta({ description: 'Whether it still goes on; not allowed with ended_at' }),
  group_id: id
    .nullable()
    .optional()
    .meta({ description: "ID of one of the workspace's timeline groups; null: in none" }),
  is_key: z.boolean().optional().meta({ description: 'Whether it is a key event' }),
  icon: boundedText(8).optional().meta({ description: 'At most 8 Unicode characters, usually one emoji; empty: none' }),
  title: boundedText(TIMELINE_LIMITS.title).optional().meta({ description: 'A heading; it is trimmed; empty: none' }),
  tags: tags.optional().meta({
    description:
      'Texts to find the event by: trimmed, without blank and repeated ones (in any case of letters), at most 50',
  }),
  evidence_links: z.array(newEvidenceLink).max(TIMELINE_LIMITS.links).optional().meta({
    description: 'Links to what shows it, in place of those with the source `person`; others stay',
  }),
  attachments: z
    .array(id)
    .max(PICTURE_LIMITS.ofEvent)
    .refine((ids) => new Set(ids).size === ids.length, 'Must not have the same item twice')
    .optional()
    .meta({
      description: 'IDs of uploaded pictures of the incident, which replace those of the event; other files stay',
    }),
};

/** The properties of a new event that a create may omit. */
const defaults = {
  started_at: properties.started_at.meta({ description: 'When it happened or began; default: now' }),
  ended_at: properties.ended_at.meta({ default: null }),
  is_ongoing: properties.is_ongoing.meta({ default: false }),
  group_id: properties.group_id.meta({ default: null }),
  is_key: properties.is_key.meta({ description: 'Whether it is a key event; default: false', default: false }),
  icon: properties.icon.meta({ default: '' }),
  title: properties.title.meta({ default: '' }),
  tags: properties.tags.meta({ default: [] }),
  evidence_links: properties.evidence_links.meta({ description: 'Links to what shows it', default: [] }),
  attachments: properties.attachments.meta({
    description: 'IDs of uploaded pictures of the incident that no event has',
    default: [],
  }),
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
    ...defaults,
    type: type
      .refine((value) => value === undefined || !isReservedType(value.trim()), 'Must not be a reserved type')
      .meta({
        description:
          'What kind of event it is; not one of the types that only the service sets, such as `import`; default: `note`',
        default: 'note',
      }),
    next_update_at: timestampInput
      .nullable()
      .optional()
      .meta({ description: 'Sets next_update_at of the incident; default: it stays' }),
    source: boundedText(MAX_FILTER_TEXT)
      .optional()
      .meta({ description: 'Accepted and ignored: the source is always `api`' }),
  })
  .refine(hasOneStart, twoStartsViolation)
  .meta({ id: 'NewTimelineEvent' });
export type NewTimelineEventWire = z.infer<typeof newTimelineEvent>;

export const timelineEventPatch = z
  .strictObject({
    body: body.optional(),
    ...properties,
    type: type.meta({
      description: 'What kind of event it is; a change to a type that only the service sets is refused',
    }),
  })
  .refine(hasOneStart, twoStartsViolation)
  .meta({ id: 'TimelineEventPatch' });
export type TimelineEventPatch = z.infer<typeof timelineEventPatch>;

function isGroup(text: string): boolean {
  return text === UNGROUPED || (/^\d+$/.test(text) && Number(text) >= 1 && Number.isSafeInteger(Number(text)));
}
