import { instant, timestampInput } from '@tocsin/contracts';
import { z } from 'zod';
import { CUSTOMER_IMPACTS, ISSUE_TYPES, RUN_STATUSES, SEVERITY_MODES } from '../domain/incident.ts';
import { SOURCE_IMPORT_STATUSES } from '../domain/source/document.ts';
import { newValues } from './value-wire.ts';

export const id = z.int().min(1);
export const text = (max: number) =>
  z.string().refine((value) => [...value].length <= max, `Must be at most ${max} characters`);

/** The incident resource (contract: Incidents); every property is always present. */
export const incident = z
  .strictObject({
    id,
    revision: id,
    company_id: id,
    human_id: z.string(),
    title: z.string(),
    service: z.string(),
    regions: z.array(z.string()),
    severity: z.string(),
    slack_channel_id: z.string(),
    meet_url: z.string(),
    doc_url: z.string(),
    status: z.string(),
    status_changed_at: instant.nullable(),
    last_event_at: instant.nullable(),
    last_event_summary: z.string(),
    issue_type: z.enum(ISSUE_TYPES),
    severity_mode: z.enum(SEVERITY_MODES),
    impact_summary: z.string(),
    customer_impact_status: z.enum(CUSTOMER_IMPACTS),
    impact_started_at: instant.nullable(),
    first_reported_at: instant.nullable(),
    first_responded_at: instant.nullable(),
    recovered_at: instant.nullable(),
    duration_seconds: z.int().min(0),
    duration_anchor: z.enum(['impact_started_at', 'first_reported_at', 'created_at']),
    team_id: id.nullable(),
    event_count: z.int().min(0),
    investigation_summary: z
      .strictObject({
        run_count: z.int().min(0),
        latest_run: z
          .strictObject({ status: z.enum(RUN_STATUSES), started_at: instant, completed_at: instant.optional() })
          .nullable(),
      })
      .nullable(),
    created_at: instant,
    created_by: z.string(),
    custom_fields: z.record(z.string(), z.unknown()),
    archived_at: instant.nullable(),
    archived_by: id.nullable(),
    incident_manager: z.string(),
    incident_responders: z.array(z.string()),
    has_assignees: z.boolean(),
  })
  .meta({ id: 'Incident' });

export type IncidentWire = z.infer<typeof incident>;

export const incidentReply = z.strictObject({ incident });

const sourceTimelineImport = z
  .strictObject({
    status: z.enum(SOURCE_IMPORT_STATUSES),
    event_count: z.int().min(1).optional().meta({ description: 'Number of imported events' }),
    reason: z
      .string()
      .optional()
      .meta({ description: 'Why no events or not all events were imported; a sentence for users' }),
  })
  .meta({ id: 'SourceTimelineImport' });
export type SourceTimelineImportWire = z.infer<typeof sourceTimelineImport>;

export const newIncidentReply = z.strictObject({
  incident,
  /** Only if the request asks for an import. */
  source_timeline_import: sourceTimelineImport.optional(),
});

/** Limits the length after trimming, because the trimmed text is stored. */
const trimmedText = (max: number) =>
  z.string().refine((value) => [...value.trim()].length <= max, `Must be at most ${max} characters`);
const title = trimmedText(255).refine((value) => value.trim() !== '', 'Must not be blank');
const service = text(128);
const regions = z.array(trimmedText(64)).max(100);
const url = z
  .string()
  .max(2048)
  .refine((value) => value === '' || isWebAddress(value), 'Must be an absolute http or https URL');
const moment = timestampInput.nullable();
const userId = z.string().regex(/^[1-9]\d{0,15}$/, "Must be a user's ID");

const properties = {
  service: service.optional(),
  regions: regions.optional(),
  severity: z.string().optional(),
  status: z.string().optional(),
  issue_type: z.enum(ISSUE_TYPES).optional(),
  team_id: id.nullable().optional(),
  slack_channel_id: text(64).optional(),
  meet_url: url.optional(),
  doc_url: url.optional(),
  impact_summary: text(10_000).optional(),
  customer_impact_status: z.enum(CUSTOMER_IMPACTS).optional(),
  impact_started_at: moment.optional(),
  first_reported_at: moment.optional(),
  first_responded_at: moment.optional(),
  recovered_at: moment.optional(),
  incident_manager: z.union([z.literal(''), userId]).optional(),
  incident_responders: z.array(userId).max(100).optional(),
};

const usergroup = trimmedText(80).refine((handle) => !['', '@'].includes(handle.trim()), 'Must not be blank');

/** The chat setup of a new incident (contract: Chat). */
const chat = {
  short_title: trimmedText(12).optional().meta({ description: "A part of the channel's name, converted to a slug" }),
  create_slack_channel: z.boolean().optional(),
  invite_usergroups: z.array(usergroup).max(50).optional().meta({ description: 'Handles of user groups' }),
};

export const newIncident = z
  .strictObject({
    title,
    ...properties,
    ...chat,
    custom_field_values: newValues.optional(),
    import_source_timeline_event: z
      .boolean()
      .optional()
      .meta({ description: 'Whether to import the document at doc_url into the timeline' }),
  })
  .refine((body) => body.import_source_timeline_event !== true || (body.doc_url ?? '') !== '', {
    path: ['doc_url'],
    error: 'Is required with import_source_timeline_event',
  })
  .meta({ id: 'NewIncident' });
export type NewIncident = z.infer<typeof newIncident>;

export const incidentPatch = z
  .strictObject({ title: title.optional(), ...properties, severity_mode: z.enum(SEVERITY_MODES).optional() })
  .meta({ id: 'IncidentPatch' });
export type IncidentPatch = z.infer<typeof incidentPatch>;

const entry = { key: z.string(), label: z.string(), order: z.int().min(0), is_default: z.boolean() };

export const workflowStatusesReply = z.strictObject({
  workflow_statuses: z.array(
    z
      .strictObject({ ...entry, is_terminal: z.boolean(), is_escalation_threshold: z.boolean(), color: z.string() })
      .meta({ id: 'WorkflowStatus' }),
  ),
});

export const severitiesReply = z.strictObject({
  severities: z.array(
    z
      .strictObject({ ...entry, min_score: z.number().min(0), description: z.string(), color: z.string() })
      .meta({ id: 'Severity' }),
  ),
});

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s/?#]\S*$/i.test(value) && URL.canParse(value);
}
