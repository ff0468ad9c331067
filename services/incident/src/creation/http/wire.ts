import { trimmedText } from '@tocsin/contracts';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import {
  CREATABLE,
  type Creatable,
  type InputOf,
  type Required,
  type WireName,
} from '../../incidents/domain/property-sets.ts';
import { incident } from '../../incidents/http/wire.ts';
import { SOURCE_IMPORT_STATUSES } from '../../source-imports/domain/document.ts';
import { newValues } from '../../values/http/wire.ts';

const usergroup = trimmedText(80).refine((handle) => !['', '@'].includes(handle.trim()), 'Must not be blank');

/** A create may omit the properties that the table does not require. */
const properties = Object.fromEntries(
  CREATABLE.map(({ name, input, required, inputDescription, createDescription, ...property }) => {
    const description = createDescription ?? inputDescription ?? property.description;
    const meta = { description, ...(property.default !== undefined && { default: property.default }) };
    return [name, required === true ? input?.meta(meta) : input?.optional().meta(meta)];
  }),
) as { [Each in Required as WireName<Each>]: InputOf<Each> } & {
  [Each in Exclude<Creatable, Required> as WireName<Each>]: z.ZodOptional<InputOf<Each>>;
};

/** The chat setup of a new incident (contract: Chat). */
const chat = {
  short_title: trimmedText(12).optional().meta({
    description:
      "A part of the channel's name, converted to a slug; at most 12 characters; required if the workspace is set up so",
  }),
  create_slack_channel: z.boolean().optional().meta({
    description:
      'Whether to create a Slack channel and link it, after the response; not allowed with a slack_channel_id; default: false',
    default: false,
  }),
  invite_usergroups: z.array(usergroup).max(50).optional().meta({
    description:
      'Handles of Slack user groups to invite into the channel, with or without `@`; default: empty, which invites nobody',
    default: [],
  }),
};

export const newIncident = z
  .strictObject({
    ...properties,
    ...chat,
    custom_field_values: newValues.optional().meta({
      description:
        'Values of custom fields; every field with required_on_creation must be among them, and others get their default',
    }),
    import_source_timeline_event: z.boolean().optional().meta({
      description:
        'Whether to import the document at doc_url into the timeline, before the response; requires doc_url; default: false',
      default: false,
    }),
  })
  .refine((body) => body.import_source_timeline_event !== true || (body.doc_url ?? '') !== '', {
    path: ['doc_url'],
    error: 'Is required with import_source_timeline_event',
  })
  .meta({ id: 'NewIncident' });

const sourceTimelineImport = z
  .strictObject({
    status: z.enum(SOURCE_IMPORT_STATUSES).meta({
      description:
        '`imported`: at least one event; `failed`: no usable response; `unavailable`: the server refuses or has no such document; `invalid`: not a document with events; `unsupported`: a content type or URL that Tocsin does not read',
    }),
    event_count: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Number of imported events, at most 500; absent if none was imported' }),
    reason: z.string().optional().meta({
      description:
        'Why no events or not all of them were imported, in a sentence for people that may change; absent if all were',
    }),
  })
  .meta({ id: 'SourceTimelineImport' });
export type SourceTimelineImportWire = z.infer<typeof sourceTimelineImport>;

export const newIncidentReply = z.strictObject({
  incident: schemaReference(incident, 'The new incident; with an import, as it is after it'),
  source_timeline_import: schemaReference(
    sourceTimelineImport,
    'The result of the timeline import; absent unless the request asks for one',
  ).optional(),
});
