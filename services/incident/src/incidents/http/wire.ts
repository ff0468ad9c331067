import { boundedText, instant, MAX_KEY, nameText, timestampInput, trimmedText } from '@tocsin/contracts';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { CUSTOMER_IMPACTS, ISSUE_TYPES, RUN_STATUSES, SEVERITY_MODES } from '../domain/incident.ts';

export const id = z.int().min(1);

/** The incident resource (contract: Incidents); every property is always present. */
export const incident = z
  .strictObject({
    id: id.meta({ description: 'Identifies the incident in paths and in other resources; unique in the installation' }),
    revision: id.meta({
      description:
        'Starts at 1 and increases with every change of properties, values or timeline; a PATCH must send it',
    }),
    company_id: id.meta({ description: 'ID of the workspace' }),
    human_id: z.string().meta({
      description: 'The reference for people: `INC-` and a number that counts from 1 in the workspace; never changes',
    }),
    title: z.string().meta({ description: 'What has happened, in one line; trimmed, 1 to 255 characters' }),
    service: z.string().meta({ description: 'Slug of a service in the catalog, or another text; empty: none' }),
    regions: z
      .array(z.string())
      .meta({ description: 'The affected regions, without blank and repeated ones; empty: none' }),
    severity: z.string().meta({ description: "Key of one of the workspace's severities" }),
    slack_channel_id: z.string().meta({ description: 'ID of the linked Slack channel; empty: none' }),
    meet_url: z.string().meta({ description: 'URL of the video meeting; empty: none' }),
    doc_url: z.string().meta({ description: 'URL of a document about the incident; empty: none' }),
    status: z.string().meta({ description: "Key of one of the workspace's workflow statuses" }),
    status_changed_at: instant
      .nullable()
      .meta({ description: 'When the status last changed; null: never since the creation' }),
    last_event_at: instant.nullable().meta({ description: 'Start of the latest timeline event; null: there is none' }),
    last_event_summary: z.string().meta({
      description: 'Title of the latest timeline event, else the first 140 characters of its body; empty: no event',
    }),
    issue_type: z.enum(ISSUE_TYPES).meta({
      description: 'What the incident is now: resolving makes it a `postmortem`, reopening after that an `incident`',
    }),
    severity_mode: z
      .enum(SEVERITY_MODES)
      .meta({ description: '`manual` once a request has set the severity, otherwise `auto`; a PATCH can set it' }),
    impact_summary: z.string().meta({ description: 'What customers notice, in words; empty: not described' }),
    customer_impact_status: z.enum(CUSTOMER_IMPACTS).meta({ description: 'Whether customers are affected' }),
    impact_started_at: instant.nullable().meta({ description: 'When the impact began; null: unknown' }),
    first_reported_at: instant
      .nullable()
      .meta({ description: 'When somebody first reported the problem; null: unknown' }),
    first_responded_at: instant.nullable().meta({ description: 'When somebody first responded; null: unknown' }),
    recovered_at: instant.nullable().meta({ description: 'When the impact ended; null: not yet, or unknown' }),
    duration_seconds: z.int().min(0).meta({
      description:
        'Whole seconds from duration_anchor to recovered_at; without it to the change into a terminal status, or to now while the status is not terminal',
    }),
    duration_anchor: z
      .enum(['impact_started_at', 'first_reported_at', 'created_at'])
      .meta({ description: 'The timestamp where the duration starts: the first of these that is set' }),
    team_id: id.nullable().meta({ description: 'ID of the team that owns the incident; null: none' }),
    event_count: z.int().min(0).meta({ description: 'Number of timeline events' }),
    investigation_summary: z
      .strictObject({
        run_count: z.int().min(0).meta({ description: 'Number of runs' }),
        latest_run: z
          .strictObject({
            status: z.enum(RUN_STATUSES).meta({ description: 'State of the run, as the other system reported it' }),
            started_at: instant.meta({ description: 'When the run started' }),
            completed_at: instant.optional().meta({ description: 'When the run ended; absent until then' }),
          })
          .nullable()
          .meta({ description: 'The run that started last; null: not known' }),
      })
      .nullable()
      .meta({ description: "Other systems' investigations of the incident; null: there was none" }),
    created_at: instant.meta({ description: 'When the incident was created in Tocsin' }),
    created_by: z.string().meta({ description: 'ID, as text, of the user whose API key created the incident' }),
    custom_fields: z.record(z.string(), z.unknown()).meta({
      description: 'Values by the slugs of their fields, archived fields included; a field without a value is absent',
    }),
    archived_at: instant.nullable().meta({ description: 'When the incident was archived; null: it is active' }),
    archived_by: id.nullable().meta({ description: 'ID of the user who archived the incident; null: it is active' }),
    incident_manager: z
      .string()
      .meta({ description: 'ID, as text, of the user who leads the response; empty: nobody' }),
    incident_responders: z
      .array(z.string())
      .meta({ description: 'IDs, as text, of the users who take part in the response' }),
    has_assignees: z.boolean().meta({ description: 'Whether there is a manager or at least one responder' }),
  })
  .meta({ id: 'Incident' });

export type IncidentWire = z.infer<typeof incident>;

export const incidentReply = z.strictObject({ incident: schemaReference(incident, 'The incident as it is now') });

/** The incident in the response to a write. */
export const changedIncident = schemaReference(incident, 'The complete incident after the operation');

export const title = nameText(255).meta({
  description: 'What has happened, in one line; 1 to 255 characters after trimming',
});
const service = boundedText(128);
const key = boundedText(MAX_KEY);
const regions = z.array(trimmedText(64)).max(100);
const url = boundedText(2048).refine(
  (value) => value === '' || isWebAddress(value),
  'Must be an absolute http or https URL',
);
const moment = timestampInput.nullable();
const userId = z
  .string()
  .max(16, { error: "Must be a user's ID", abort: true })
  .regex(/^[1-9]\d*$/, "Must be a user's ID");

/** What a create and a PATCH have in common; the create adds its defaults. */
export const properties = {
  service: service.optional().meta({ description: 'Slug of a service in the catalog, or any text; empty: none' }),
  regions: regions.optional().meta({
    description: 'The affected regions; each is trimmed, blank and repeated ones (in any case of letters) are dropped',
  }),
  severity: key
    .optional()
    .meta({ description: "Key of one of the workspace's severities; a change sets severity_mode to `manual`" }),
  status: key.optional().meta({ description: "Key of one of the workspace's workflow statuses" }),
  issue_type: z
    .enum(ISSUE_TYPES)
    .optional()
    .meta({ description: 'What the incident is: a ticket, an incident, or one to learn from after it is resolved' }),
  team_id: id.nullable().optional().meta({ description: 'ID of an active team that owns the incident; null: none' }),
  slack_channel_id: boundedText(64)
    .optional()
    .meta({ description: 'ID of an existing Slack channel to link; empty: none' }),
  meet_url: url.optional().meta({ description: 'URL of the video meeting, absolute http or https; empty: none' }),
  doc_url: url
    .optional()
    .meta({ description: 'URL of a document about the incident, absolute http or https; empty: none' }),
  impact_summary: boundedText(10_000)
    .optional()
    .meta({ description: 'What customers notice, in words; empty: not described' }),
  customer_impact_status: z.enum(CUSTOMER_IMPACTS).optional().meta({ description: 'Whether customers are affected' }),
  impact_started_at: moment.optional().meta({ description: 'When the impact began; null: unknown' }),
  first_reported_at: moment.optional().meta({ description: 'When somebody first reported the problem; null: unknown' }),
  first_responded_at: moment.optional().meta({ description: 'When somebody first responded; null: unknown' }),
  recovered_at: moment.optional().meta({ description: 'When the impact ended; null: not yet, or unknown' }),
  incident_manager: z
    .union([z.literal(''), userId])
    .optional()
    .meta({ description: 'ID, as text, of an active user who leads the response; empty: nobody' }),
  incident_responders: z
    .array(userId)
    .max(100)
    .optional()
    .meta({ description: 'IDs, as text, of active users who take part; repetitions are dropped' }),
};

export const incidentPatch = z
  .strictObject({
    title: title.optional(),
    ...properties,
    severity_mode: z
      .enum(SEVERITY_MODES)
      .optional()
      .meta({ description: 'Whether the severity counts as set by hand; wins over what a change of severity does' }),
  })
  .meta({ id: 'IncidentPatch' });
export type IncidentPatch = z.infer<typeof incidentPatch>;

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s/?#]\S*$/i.test(value) && URL.canParse(value);
}
