import { z } from 'zod';
import { instant } from './envelope.ts';
import { largeValue } from './large-value.ts';
import { recordedKey } from './recorded-key.ts';

const id = z.int().min(1);
const revision = z
  .int()
  .min(1)
  .meta({ description: 'The revision that this is: of two events, the larger one is newer' });
const reference = z.string().meta({ description: 'The reference for people, such as `INC-4`; never changes' });
const moment = instant.nullable();
const key = z.object(recordedKey.shape).nullable();

/** A value that may be large; then its digest stands for it (contract: Large values). */
const digestible = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, largeValue]);

/** Complete in every event, also in those of earlier releases. */
const core = {
  id: id.meta({ description: 'ID of the incident' }),
  reference,
  revision,
  title: z.string().meta({ description: 'What has happened, in one line' }),
  service: z.string().meta({ description: 'Slug of a service in the catalog, or another text; empty: none' }),
  regions: z.array(z.string()).meta({ description: 'The affected regions; empty: none' }),
  severity: z.string().meta({ description: 'Key of the severity' }),
  status: z.string().meta({ description: 'Key of the workflow status' }),
  issue_type: z.string().meta({ description: '`ticket`, `incident` or `postmortem`' }),
  impact_summary: z.string().meta({ description: 'What customers notice, in words; empty: not described' }),
  team_id: id.nullable().meta({ description: 'ID of the team that owns the incident; null: none' }),
  created_at: instant.meta({ description: 'When the incident was created' }),
  created_by: z.string().meta({ description: 'ID, as text, of the user whose API key created it' }),
  archived_at: moment.meta({ description: 'When it was archived; null: it is active' }),
};

/** Later properties, which events of earlier releases lack. */
const added = {
  created_by_key: key.meta({
    description: 'The API key, or session, that created it for the user; null: not known, or an import created it',
  }),
  archived_by: id.nullable().meta({ description: 'ID of the user who archived it; null: it is active' }),
  external_id: z.string().nullable().meta({ description: 'ID of the incident in another system; null: none' }),
  external_url: digestible(z.string()).meta({
    description: 'URL of the incident in the system that it was imported from; empty: none',
  }),
  imported_at: moment.meta({ description: 'When it was imported from another system; null: created in Tocsin' }),
  status_changed_at: moment.meta({ description: 'When the status last changed; null: never since the creation' }),
  severity_mode: z.string().meta({ description: '`manual` once a request has set the severity, otherwise `auto`' }),
  slack_channel_id: z.string().meta({ description: 'ID of the linked Slack channel; empty: none' }),
  meet_url: digestible(z.string()).meta({ description: 'URL of the video meeting; empty: none' }),
  doc_url: digestible(z.string()).meta({ description: 'URL of a document about the incident; empty: none' }),
  customer_impact_status: z.string().meta({ description: '`unknown`, `none` or `confirmed`' }),
  impact_started_at: moment.meta({ description: 'When the impact began; null: unknown' }),
  first_reported_at: moment.meta({ description: 'When somebody first reported the problem; null: unknown' }),
  first_responded_at: moment.meta({ description: 'When somebody first responded; null: unknown' }),
  first_acted_at: moment.meta({
    description: 'When a person who did not create it first acted on it; null: nobody has, or not known',
  }),
  recovered_at: moment.meta({ description: 'When the impact ended; null: not yet, or unknown' }),
  next_update_at: moment.meta({ description: 'When the next update for others is due; null: none is promised' }),
  incident_manager: z.string().meta({ description: 'ID, as text, of the user who leads the response; empty: nobody' }),
  incident_responders: z
    .array(z.string())
    .meta({ description: 'IDs, as text, of the users who take part in the response' }),
  roles: z.record(z.string(), z.array(z.string())).meta({
    description: 'IDs, as text, of the users who have roles, by the keys of these; a role that nobody has is absent',
  }),
  custom_fields: z.record(z.string(), z.unknown()).meta({
    description: 'Values by the slugs of their fields; a field without a value is absent, a large value is a digest',
  }),
  restricted: z.boolean().meta({ description: 'Whether it exists only for few; those events are for few as well' }),
  visible_to: z
    .object({
      users: z.array(id).meta({ description: 'IDs of users' }),
      teams: z.array(id).meta({ description: 'IDs of teams, for their members' }),
    })
    .meta({
      description: 'IDs of users and teams who may see it besides declarer, manager and responders',
    }),
  event_count: z.int().min(0).meta({ description: 'Number of timeline events' }),
  last_event_at: moment.meta({ description: 'Start of the latest timeline event; null: there is none' }),
  last_event_summary: z.string().meta({
    description: 'Title of the latest timeline event, else the beginning of its body; empty: no event',
  }),
};

/** An incident as this release publishes it: what the API shows, except what follows from it or other systems compute. */
export const publishedIncident = z.object({ ...core, ...added });

/** An incident as consumers read it: events of earlier releases lack some properties. */
export const incidentSnapshot = z.object({ ...core, ...z.object(added).partial().shape });

/** The incident of a timeline event. */
export const incidentReference = z.object({
  id: id.meta({ description: 'ID of the incident' }),
  reference,
  revision: revision.meta({
    description: 'Its revision after the change: of two events about one timeline event, the larger one is newer',
  }),
});

const evidenceLink = z.object({
  source: z.string().meta({ description: 'The system where the evidence is' }),
  url: z.string().meta({ description: 'The absolute URL of the evidence' }),
  label: z.string().optional().meta({ description: 'A short name for the link; absent without one' }),
  summary: z.string().optional().meta({ description: 'What the evidence shows; absent without one' }),
  artifact_id: z
    .string()
    .optional()
    .meta({ description: 'The ID of a stored copy of the evidence; absent without one' }),
  artifact_digest: z.string().optional().meta({ description: 'The digest of that copy; absent without one' }),
  result_bytes: z.int().min(0).optional().meta({ description: 'The size of the evidence in bytes; absent if unknown' }),
  truncated: z.boolean().optional().meta({ description: 'Whether the evidence was cut off; absent if unknown' }),
});

/** A timeline event as events contain it: what the API shows, except attachments and comments, which other systems keep. */
export const timelineEventSnapshot = z.object({
  id: id.meta({ description: 'ID of the timeline event' }),
  revision: id.meta({ description: 'Starts at 1 and increases with every change of the timeline event' }),
  started_at: instant.meta({ description: 'When it happened or began; with the ID, the order of the timeline' }),
  ended_at: moment.meta({ description: 'When it ended; null: not known, or a single moment' }),
  is_ongoing: z.boolean().meta({ description: 'Whether it still goes on; never true with ended_at' }),
  group_id: id.nullable().meta({ description: "ID of one of the workspace's timeline groups; null: in none" }),
  is_key: z.boolean().meta({ description: 'Whether people marked it as a key event' }),
  source: z.string().meta({ description: 'What created it: `api`, `import` for a timeline import, or another system' }),
  source_ref: digestible(z.string()).meta({
    description: 'Where it comes from at its source; for `import` the URL of the document; empty: unknown',
  }),
  type: z.string().meta({ description: 'What kind of event it is; `note` if nothing else was chosen' }),
  icon: z.string().meta({ description: 'At most 8 Unicode characters, usually one emoji; empty: none' }),
  title: z.string().meta({ description: 'A heading; empty: none' }),
  body: digestible(z.string()).meta({ description: 'What happened, in any number of lines' }),
  collaboration_generation: id.meta({ description: 'Starts at 1 and increases with every change of title or body' }),
  tags: digestible(z.array(z.string())).meta({ description: 'Texts to find it by; empty: none' }),
  ai_context: digestible(z.string()).meta({ description: 'What AI knows about it; empty: none' }),
  created_by: z
    .string()
    .meta({ description: 'ID, as text, of the user whose API key created it, or the name of a system' }),
  // Events of earlier releases lack it.
  created_by_key: key.optional().meta({
    description: 'The API key, or session, that created it for the user; null: not known, or an import brought it',
  }),
  source_window_started_at: moment.meta({
    description: 'Start of the time in which the source looked at data; null: unknown',
  }),
  source_window_ended_at: moment.meta({ description: 'End of that time; null: unknown' }),
  evidence_links: digestible(z.array(evidenceLink)).meta({ description: 'Links to what supports it; empty: none' }),
  // Events of earlier releases lack it.
  imported: z.boolean().optional().meta({
    description:
      'Whether an import of incidents brought it: its type, source, author and times are what another system said',
  }),
});

/** Any value, or the digest of a large one, which a union with any value could not tell apart. */
const changedValue = z.unknown();

/** The change of one property of an incident. */
export const incidentChange = z.object({
  field: z.string().meta({
    description:
      'The changed property; `custom_fields.` and its slug for a custom field, `roles.` and its key for a role, `relations.` and its type for a relation',
  }),
  from: changedValue.meta({ description: 'The value before, or its digest if it is large; null: none' }),
  to: changedValue.meta({ description: 'The value after, or its digest if it is large; null: none' }),
});

export type IncidentSnapshot = z.infer<typeof incidentSnapshot>;
export type PublishedIncident = z.infer<typeof publishedIncident>;
export type IncidentReference = z.infer<typeof incidentReference>;
export type TimelineEventSnapshot = z.infer<typeof timelineEventSnapshot>;
