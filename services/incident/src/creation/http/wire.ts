import { trimmedText } from '@tocsin/contracts';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { incident, properties, title } from '../../incidents/http/wire.ts';
import { SOURCE_IMPORT_STATUSES } from '../../source-imports/domain/document.ts';
import { newValues } from '../../values/http/wire.ts';

const usergroup = trimmedText(80).refine((handle) => !['', '@'].includes(handle.trim()), 'Must not be blank');

/** The properties of a new incident that a create may omit. */
const defaults = {
  service: properties.service.meta({
    description:
      "Slug of a service in the catalog, or any text; an active service's team is the default of team_id; default: empty, none",
    default: '',
  }),
  regions: properties.regions.meta({ default: [] }),
  severity: properties.severity.meta({
    description:
      "Key of one of the workspace's severities, which sets severity_mode to `manual`; default: the workspace's default severity",
  }),
  status: properties.status.meta({
    description: "Key of one of the workspace's workflow statuses; default: the workspace's default status",
  }),
  issue_type: properties.issue_type.meta({
    description:
      'What the incident is: a ticket, an incident, or one to learn from after it is resolved; default: `incident`',
    default: 'incident',
  }),
  team_id: properties.team_id.meta({
    description: 'ID of an active team that owns the incident; null or absent: the team of the service, if it has one',
  }),
  slack_channel_id: properties.slack_channel_id.meta({ default: '' }),
  meet_url: properties.meet_url.meta({ default: '' }),
  doc_url: properties.doc_url.meta({ default: '' }),
  impact_summary: properties.impact_summary.meta({ default: '' }),
  customer_impact_status: properties.customer_impact_status.meta({
    description: 'Whether customers are affected; default: `unknown`',
    default: 'unknown',
  }),
  impact_started_at: properties.impact_started_at.meta({ default: null }),
  first_reported_at: properties.first_reported_at.meta({ default: null }),
  first_responded_at: properties.first_responded_at.meta({ default: null }),
  recovered_at: properties.recovered_at.meta({ default: null }),
  incident_manager: properties.incident_manager.meta({ default: '' }),
  incident_responders: properties.incident_responders.meta({ default: [] }),
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
    title,
    ...properties,
    ...defaults,
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
export type NewIncident = z.infer<typeof newIncident>;

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
