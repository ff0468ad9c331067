import {
  boundedText,
  instant,
  isLongerThan,
  KEY,
  keyText,
  MAX_KEY,
  MAX_VALUES,
  nameText,
  recordedKey,
  timestampInput,
  trimmedText,
} from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { INCIDENT_PROPERTIES as PROPERTIES } from '../../incidents/domain/incident-properties.ts';
import { id } from '../../incidents/domain/property-kinds.ts';
import { MAX_HOLDERS, MAX_ROLES } from '../../incidents/domain/role-holders.ts';
import { TRANSFERRED, TRANSFERRED_MOMENTS } from '../../incidents/domain/property-sets.ts';
import { optionalInputs } from '../../incidents/http/wire.ts';
import { followUpInput } from '../../follow-ups/http/wire.ts';
import { RELATION_TYPES } from '../../relations/domain/relation.ts';
import { pictureName } from '../../pictures/http/wire.ts';
import { newTimelineEvent, timelineText } from '../../timeline/http/wire.ts';
import { optional, person, personReference } from './person.ts';
import { postmortemItem } from './postmortem-item.ts';
import { isShallow, MAX_CHANGES, MAX_ITEMS, MAX_PARTS, SOURCE_PATTERN, toExternalId } from '../domain/item.ts';

/** As a key may be named, and as its token begins. */
const apiKey = z
  .strictObject({
    name: nameText(255).meta({ description: recordedKey.shape.name.description }),
    prefix: boundedText(64).meta({ description: recordedKey.shape.prefix.description }),
  })
  .meta({ id: 'ImportedKey' });

const keyReference = (description: string) => schemaReference(apiKey, description).nullable().optional();

const external = z
  .strictObject({
    source: z.string().max(32).regex(SOURCE_PATTERN, 'Must have 1 to 32 characters: a-z, 0-9, _ and -').meta({
      description:
        'Name of the system that the incident comes from: lower case letters, digits, `_` and `-`; `external_id` stands for none',
    }),
    id: nameText(200).meta({
      description:
        'ID of the incident there; with source and a colon at most 200 characters, which are its external_id',
    }),
    url: PROPERTIES.docUrl.input.optional().meta({ description: 'URL of the incident there; absent or empty: none' }),
  })
  .refine((named) => !isLongerThan(toExternalId(named).trim(), 200), {
    path: ['id'],
    error: 'Must be at most 200 characters with its source',
  })
  .meta({ id: 'ImportedFrom' });

const moments = z.strictObject(optionalInputs(TRANSFERRED_MOMENTS)).meta({ id: 'ImportedMoments' });

const participants = z
  .strictObject({
    manager: personReference('Who led the response; null: nobody').nullable().optional(),
    responders: optional(z.array(person).max(100), 'Who took part in the response'),
    roles: optional(
      z
        .record(z.string().regex(KEY, 'Must be the key of a role'), z.array(person).max(MAX_HOLDERS))
        .refine((roles) => Object.keys(roles).length <= MAX_ROLES, `Must have at most ${MAX_ROLES} properties`)
        .refine((roles) => Object.values(roles).flat().length <= 100, 'Must have at most 100 people')
        .meta({ maxProperties: MAX_ROLES }),
      'Who had roles, by the keys of these, which the workspace may lack; other roles keep their holders, `[]`: nobody',
    ),
  })
  .meta({ id: 'ImportedParticipants' });

const { title, is_key, is_ongoing, icon, tags } = newTimelineEvent.shape;

const timelineEvent = z
  .strictObject({
    external_id: nameText(200).meta({
      description: 'ID of the event in its system, unique in the incident: an event with it is changed, not added',
    }),
    type: timelineText.type.meta({ description: 'What kind of event it is; the types of the service are allowed' }),
    body: timelineText.body,
    started_at: timestampInput.meta({ description: 'When it happened or began' }),
    author: personReference('Who wrote it'),
    created_by_key: keyReference('The API key that wrote it; null: not known'),
    is_key,
    title,
    ended_at: optional(timestampInput.nullable(), 'When it ended, not before started_at; null: not known'),
    is_ongoing,
    icon,
    tags,
    group: optional(boundedText(128).nullable(), "Name of one of the workspace's timeline groups; null: in none"),
    source: optional(boundedText(64).min(1), 'What created the event; default for a new one: `import`'),
    source_ref: optional(boundedText(2048), 'Where it comes from at its source; empty: unknown'),
  })
  .meta({ id: 'ImportedTimelineEvent' });
export type TimelineEventItem = z.infer<typeof timelineEvent>;

const value = z
  .unknown()
  .nonoptional('Is required; null for none')
  .refine(isShallow, 'Must not be nested more than 99 levels deep');

const changelogEntry = z
  .strictObject({
    changed_at: timestampInput.meta({ description: 'When the changes were made' }),
    actor: personReference('Who made them'),
    api_key: keyReference('The API key with which they were made; null: not known'),
    changes: z
      .array(
        z.strictObject({
          field: boundedText(128).min(1).meta({ description: 'The changed property' }),
          from: value.meta({ description: 'The value before; null: none' }),
          to: value.meta({ description: 'The value after; null: none' }),
        }),
      )
      .min(1)
      .max(MAX_CHANGES)
      .meta({ description: 'One item for each changed property' }),
  })
  .meta({ id: 'ImportedChange' });
export type ChangeItem = z.infer<typeof changelogEntry>;

const followUp = z
  .strictObject({
    external_id: nameText(200).meta({
      description: 'ID of the follow-up in its system, unique in the incident: one with it is changed, not added',
    }),
    ...followUpInput,
    owner: personReference('Who does it; null: nobody').nullable().optional(),
    created_at: timestampInput.meta({ description: 'When it was created' }),
    author: personReference('Who created it'),
    completed_at: optional(
      timestampInput.nullable(),
      'When its status became `done`, only allowed with it; default for a new one: now',
    ),
    updated_at: optional(
      timestampInput,
      'When it last changed; not in the future; default: when the import changes it',
    ),
  })
  .meta({ id: 'ImportedFollowUp' });
export type FollowUpItem = z.infer<typeof followUp>;

const relation = z
  .strictObject({
    type: z.enum(RELATION_TYPES).meta({ description: 'What this incident is to the other one' }),
    external: schemaReference(external, 'Names the other incident'),
    created_at: timestampInput.meta({ description: 'When the incidents were related; not in the future' }),
    author: personReference('Who related them'),
  })
  .meta({ id: 'ImportedRelation' });
export type RelationItem = z.infer<typeof relation>;

const transferred = optionalInputs(TRANSFERRED);

/** An incident as an import takes it and an export gives it (contract: Import, Export). */
export const incidentItem = z
  .strictObject({
    kind: optional(z.literal('incident'), 'As a line of an export has it'),
    external: schemaReference(external, 'Names the incident in its system: one with this source and ID is changed'),
    title: PROPERTIES.title.input.meta({ description: PROPERTIES.title.inputDescription }),
    status: keyText().meta({ description: "Key of one of the workspace's workflow statuses" }),
    severity: keyText().meta({ description: "Key of one of the workspace's severities" }),
    created_at: timestampInput.meta({ description: 'When it was created in its system; not in the future' }),
    author: personReference('Who created it'),
    created_by_key: keyReference('The API key that created it; null: not known'),
    first_acted_at: optional(timestampInput.nullable(), 'When another person first acted on it; null: not known'),
    status_changed_at: optional(timestampInput.nullable(), 'When the status last changed; null: never'),
    archived_at: optional(timestampInput.nullable(), 'When it was archived; null: it is active'),
    unhandled_alert: optional(
      z.boolean(),
      'Whether an alert declared it and nobody has acted on it since; default for a new one: false',
    ),
    team: optional(boundedText(MAX_KEY).nullable(), 'Slug of the team that owns it, which may be archived; null: none'),
    ...transferred,
    severity_mode: transferred.severity_mode.meta({ description: 'Default for a new incident: `manual`' }),
    moments: schemaReference(moments, 'When what happened').optional(),
    people: schemaReference(participants, 'Who took part').optional(),
    values: optional(
      z
        .record(boundedText(MAX_KEY), value)
        .refine((values) => Object.keys(values).length <= MAX_VALUES, `Must have at most ${MAX_VALUES} properties`)
        .meta({ maxProperties: MAX_VALUES }),
      'Values of custom fields by their slugs, archived fields included; null: none. Other fields keep theirs.',
    ),
    timeline: optional(
      z.array(timelineEvent).max(MAX_PARTS),
      'Events of the timeline to add or change; other events stay as they are',
    ),
    changelog: optional(
      z.array(changelogEntry).max(MAX_PARTS),
      'Earlier changes, the oldest first; those that the changelog does not have are added to it',
    ),
    postmortem: schemaReference(postmortemItem, 'The written post-mortem; it replaces another one').optional(),
    follow_ups: optional(z.array(followUp).max(MAX_PARTS), 'Follow-ups to add or change; others stay as they are'),
    relations: optional(
      z.array(relation).max(MAX_PARTS),
      'Relations to other incidents, which are added if imports made both; others stay as they are',
    ),
  })
  .meta({ id: 'ImportedIncident' });
export type IncidentItem = z.infer<typeof incidentItem>;

/** An item that does not match is refused by itself, so the body accepts anything. The first schema decides. */
const anyItem = z.union([z.unknown().meta({ description: 'Anything else is refused by itself' }), incidentItem]);

export const importBody = z
  .strictObject({
    incidents: z
      .array(anyItem)
      .min(1)
      .max(MAX_ITEMS)
      .meta({ description: 'The incidents; each succeeds or is refused by itself' }),
  })
  .meta({ id: 'IncidentImport' });

const result = z
  .strictObject({
    index: z.int().min(0).meta({ description: 'The place of the item in the request, from 0' }),
    outcome: z.enum(['created', 'updated', 'unchanged', 'refused']).meta({ description: 'What became of the item' }),
    incident_id: id.nullable().meta({ description: 'ID of the incident; null: refused, or only validated' }),
    human_id: z.string().nullable().meta({ description: 'Its reference; null: refused, or only validated' }),
    revision: id.nullable().meta({ description: 'Its revision afterwards; null: refused' }),
    field: optional(z.string(), 'Refused: the invalid property (dotted, with indexes); absent if none is'),
    message: optional(z.string(), 'Refused: why, for people'),
    notes: optional(
      z.array(
        z.strictObject({
          field: z.string().meta({ description: 'The property of the item (dotted, with indexes)' }),
          message: z.string().meta({ description: 'Why, for people' }),
        }),
      ),
      'Relations that were left out; absent if none was',
    ),
  })
  .meta({ id: 'ImportResult' });
export type ImportResultWire = z.infer<typeof result>;

export const importReply = z.strictObject({
  results: z.array(result).meta({ description: 'What became of each item, in the order of the request' }),
});

export const exportQuery = z.strictObject({
  cursor: trimmedText(4096).min(1).optional().meta({
    description: 'The latest cursor of an export that broke off; without it, the export starts at its beginning',
  }),
});

const resource = <Kind extends string>(kind: Kind) => z.looseObject({ kind: z.literal(kind), slug: z.string() });

/** Names the event of a picture. */
export const importPictureQuery = z.strictObject({
  source: external.shape.source.meta({ description: 'The source of the incident', example: 'dispatch' }),
  id: external.shape.id.meta({ description: 'ID of the incident there', example: '214' }),
  event: nameText(200).meta({ description: 'The external_id of the event in the incident', example: '9120' }),
  filename: pictureName.meta({ description: 'The name of the file, for people', example: 'latency.png' }),
});

export const importPictureReply = z.strictObject({
  outcome: z
    .enum(['created', 'unchanged'])
    .meta({ description: '`unchanged`: the event has a picture of the same bytes' }),
  id: id.meta({ description: 'ID of the picture' }),
});

/** A picture of an event, as a line of an export. */
const pictureLine = z.strictObject({
  kind: z.literal('picture'),
  external: z.strictObject({ source: z.string(), id: z.string() }),
  event: z.string(),
  filename: z.string(),
  content_type: z.string(),
  data: z.string(),
});

/** A line of an export. */
export const exportLine = z.union([
  incidentItem.extend({ kind: z.literal('incident') }),
  pictureLine,
  resource('workspace').extend({ exported_at: instant, configuration: z.looseObject({}) }),
  resource('team'),
  resource('service'),
  resource('field'),
  z.strictObject({ kind: z.literal('position'), cursor: z.string() }),
  z.strictObject({ kind: z.literal('end') }),
]);
