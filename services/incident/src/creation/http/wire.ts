import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { requestedChannel } from '../../chat/http/wire.ts';
import {
  CREATABLE,
  type Creatable,
  type InputOf,
  type Required,
  type WireName,
} from '../../incidents/domain/property-sets.ts';
import { incident } from '../../incidents/http/wire.ts';
import { MAX_SKIPPED, MAX_ZONES, SOURCE_IMPORT_STATUSES } from '../../source-imports/domain/document.ts';
import { newValues } from '../../values/http/wire.ts';

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
  short_title: requestedChannel.short_title,
  create_slack_channel: z.boolean().optional().meta({
    description:
      'Whether to create a Slack channel and link it, after the response; not allowed with a slack_channel_id; default: false',
    default: false,
  }),
  invite_usergroups: requestedChannel.invite_usergroups,
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
        'Why no events or not all of them were imported, or what may be wrong with them, in a sentence for people that may change; absent if there is nothing to say',
    }),
    skipped_count: z.int().min(1).optional().meta({
      description: 'Number of entries of the document that were left out because they are not valid; absent: none',
    }),
    skipped: z
      .array(
        z.strictObject({
          number: z.int().min(1).meta({ description: 'Line of the document; in JSON, place in the list of events' }),
          reason: z.string().meta({ description: 'Why, as a clause for people that may change' }),
        }),
      )
      .max(MAX_SKIPPED)
      .optional()
      .meta({ description: `The first ${MAX_SKIPPED} of them; absent: none` }),
    time_zones: z
      .array(
        z.strictObject({
          time_zone: z.string().meta({ description: 'Name in the IANA database, or an offset like `+01:00`' }),
          source: z.enum(['document', 'workspace']).meta({
            description: 'Whether the document names it, or it is that of the configuration of the workspace',
          }),
        }),
      )
      .max(MAX_ZONES)
      .optional()
      .meta({ description: 'In which zones times without a zone of their own were read; absent: there are none' }),
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
