import {
  boundedText,
  composedText,
  type EventWorkspace,
  externalIdText,
  instant,
  keyText,
  nameText,
  recordedKey,
  trimmedText,
} from '@tocsin/schemas';
import { normaliseList } from '@tocsin/http';
import { z } from 'zod';
import { type InvestigationRun, investigationSummary } from './investigation-run.ts';
import { shortenFields, shortenValue } from './large-value.ts';
import {
  BY_CLIENTS,
  choice,
  count,
  id,
  identifier,
  moment,
  nullableId,
  optionalMoment,
  optionalText,
  optionalTexts,
  person,
  type Property,
  roleHolders,
  text,
  viewers,
  viewersInput,
  webAddress,
} from './property-kinds.ts';

export const ISSUE_TYPES = ['ticket', 'incident', 'postmortem'] as const;
export const POSTMORTEM_STATES = ['draft', 'in_review', 'published'] as const;
const SEVERITY_MODES = ['auto', 'manual'] as const;
export const CUSTOMER_IMPACTS = ['unknown', 'none', 'confirmed'] as const;

/**
 * Every property of an incident (contract: Incidents), in the order of the API. The type of an incident, its row, what
 * requests take, what responses, the changelog and the event show, and what the API description says of them follow.
 * Empty text: none; null: unknown.
 */
export const INCIDENT_PROPERTIES = {
  id: {
    ...identifier('id'),
    event: true,
    description: 'Identifies the incident in paths and in other resources; unique in the installation',
  },
  revision: {
    ...identifier('revision'),
    initial: 1,
    event: true,
    description: 'Starts at 1 and increases with every change of properties, values or timeline; a PATCH must send it',
  },
  workspaceId: { ...identifier('company_id'), column: 'workspace_id', description: 'ID of the workspace' },
  /** Counts from 1 in each workspace. The event has it as `reference`. */
  number: { column: 'number', type: 'bigint', schema: id },
  humanId: {
    name: 'human_id',
    schema: z.string(),
    description: 'The reference for people: `INC-` and a number that counts from 1 in the workspace; never changes',
  },
  title: {
    ...text('title'),
    ...BY_CLIENTS,
    required: true,
    description: 'What has happened, in one line; trimmed, 1 to 255 characters',
    inputDescription: 'What has happened, in one line; 1 to 255 characters after trimming',
    input: nameText(255),
    fromRequest: (value: string) => value.trim(),
  },
  externalId: {
    ...text('external_id'),
    ...BY_CLIENTS,
    default: null,
    schema: z.string().nullable(),
    description: 'ID of the incident in another system; no other incident of the workspace has it; null: none',
    inputDescription:
      'ID of the incident in another system, 1 to 200 characters after trimming; no other incident of the workspace may have it, archived ones included; null: none',
    input: externalIdText().nullable(),
    fromRequest: (value: string | null) => value?.trim() ?? null,
  },
  externalUrl: {
    ...text('external_url'),
    initial: '',
    changelog: true,
    event: true,
    toEvent: shortenValue<string>,
    description: 'URL of the incident in the system that it was imported from; empty: none',
  },
  importedAt: {
    ...moment('imported_at'),
    event: true,
    description: 'When it was imported from another system; null: it was created in Tocsin',
  },
  service: {
    ...optionalText('service'),
    description: 'Slug of a service in the catalog, or another text; empty: none',
    inputDescription: 'Slug of a service in the catalog, or any text; empty: none',
    createDescription:
      "Slug of a service in the catalog, or any text; an active service's active team is the default of team_id; default: empty, none",
    input: composedText(128),
    // The catalog stores slugs in NFC.
    fromRequest: (value: string) => value.normalize('NFC'),
  },
  regions: {
    ...optionalTexts('regions'),
    description: 'The affected regions, without blank and repeated ones; empty: none',
    inputDescription:
      'The affected regions; each is trimmed, blank and repeated ones (in any case of letters) are dropped',
    input: z.array(trimmedText(64)).max(100),
    fromRequest: normaliseList,
  },
  severity: {
    ...text('severity'),
    ...BY_CLIENTS,
    description: "Key of one of the workspace's severities",
    inputDescription: "Key of one of the workspace's severities; a change sets severity_mode to `manual`",
    createDescription:
      "Key of one of the workspace's severities, which sets severity_mode to `manual`; default: the workspace's default severity",
    input: keyText(),
  },
  slackChannelId: {
    ...optionalText('slack_channel_id'),
    description: 'ID of the linked Slack channel; empty: none',
    inputDescription: 'ID of an existing Slack channel to link; empty: none',
    input: boundedText(64),
  },
  meetUrl: {
    ...webAddress('meet_url'),
    description: 'URL of the video meeting; empty: none',
    inputDescription: 'URL of the video meeting, absolute http or https; empty: none',
  },
  docUrl: {
    ...webAddress('doc_url'),
    description: 'URL of a document about the incident; empty: none',
    inputDescription: 'URL of a document about the incident, absolute http or https; empty: none',
  },
  status: {
    ...text('status'),
    ...BY_CLIENTS,
    description: "Key of one of the workspace's workflow statuses",
    createDescription: "Key of one of the workspace's workflow statuses; default: the workspace's default status",
    input: keyText(),
  },
  statusChangedAt: {
    ...moment('status_changed_at'),
    event: true,
    description: 'When the status last changed; null: never since the creation',
  },
  /** When the incident last entered a terminal status; null while its status is not terminal. */
  endedAt: { column: 'ended_at', type: 'timestamptz', schema: instant.nullable() },
  lastEventAt: {
    ...moment('last_event_at'),
    event: true,
    sort: 'last_event_at',
    description: 'Start of the latest timeline event; null: there is none',
  },
  lastEventSummary: {
    ...text('last_event_summary'),
    initial: '',
    event: true,
    description: 'Title of the latest timeline event, else the first 140 characters of its body; empty: no event',
  },
  issueType: {
    ...choice('issue_type', ISSUE_TYPES),
    ...BY_CLIENTS,
    default: 'incident',
    description: 'What the incident is now: resolving makes it a `postmortem`, reopening after that an `incident`',
    inputDescription: 'What the incident is: a ticket, an incident, or one to learn from after it is resolved',
    createDescription:
      'What the incident is: a ticket, an incident, or one to learn from after it is resolved; default: `incident`',
  },
  postmortemState: {
    name: 'postmortem_state',
    type: 'text',
    schema: z.enum(POSTMORTEM_STATES).nullable(),
    initial: null,
    description: 'State of the written post-mortem, which changes without a revision; null: nobody has begun one',
  },
  severityMode: {
    ...choice('severity_mode', SEVERITY_MODES),
    ...BY_CLIENTS,
    create: false,
    description: '`manual` once a request has set the severity, otherwise `auto`; a PATCH can set it',
    inputDescription: 'Whether the severity counts as set by hand; wins over what a change of severity does',
  },
  impactSummary: {
    ...optionalText('impact_summary'),
    description: 'What customers notice, in words; empty: not described',
    input: boundedText(10_000),
  },
  customerImpactStatus: {
    ...choice('customer_impact_status', CUSTOMER_IMPACTS),
    ...BY_CLIENTS,
    default: 'unknown',
    description: 'Whether customers are affected',
    createDescription: 'Whether customers are affected; default: `unknown`',
  },
  impactStartedAt: {
    ...optionalMoment('impact_started_at'),
    sort: 'impact_started_at',
    description: 'When the impact began; null: unknown',
  },
  firstReportedAt: {
    ...optionalMoment('first_reported_at'),
    description: 'When somebody first reported the problem; null: unknown',
  },
  firstRespondedAt: {
    ...optionalMoment('first_responded_at'),
    description: 'When somebody first responded; null: unknown',
  },
  firstActedAt: {
    ...moment('first_acted_at'),
    event: true,
    description: 'When a person who did not create it first acted on it; null: nobody has, or not known',
  },
  recoveredAt: {
    ...optionalMoment('recovered_at'),
    description: 'When the impact ended; null: not yet, or unknown',
  },
  nextUpdateAt: {
    ...optionalMoment('next_update_at'),
    description: 'When the next update for others is due while the incident is active; null: none is promised',
  },
  durationSeconds: {
    name: 'duration_seconds',
    schema: z.int().min(0),
    description:
      'Whole seconds from duration_anchor to recovered_at; without it to the change into a terminal status, or to now while the status is not terminal',
  },
  durationAnchor: {
    name: 'duration_anchor',
    schema: z.enum(['impact_started_at', 'first_reported_at', 'created_at']),
    description: 'The timestamp where the duration starts: the first of these that is set',
  },
  teamId: {
    ...nullableId('team_id'),
    ...BY_CLIENTS,
    refersTo: 'team',
    description: 'ID of the team that owns the incident; null: none',
    inputDescription: 'ID of an active team that owns the incident, or of the stored one; null: none',
    createDescription:
      'ID of an active team that owns the incident; null or absent: the team of the service, if it has one',
  },
  eventCount: { ...count('event_count'), event: true, sort: 'events', description: 'Number of timeline events' },
  runCount: { column: 'run_count', type: 'bigint', schema: z.int(), initial: 0 },
  latestRun: { column: 'latest_run', type: 'jsonb', schema: z.custom<InvestigationRun | null>(), initial: null },
  investigationSummary: {
    name: 'investigation_summary',
    schema: investigationSummary.nullable(),
    description: "Other systems' investigations of the incident; null: there was none",
  },
  createdAt: {
    name: 'created_at',
    type: 'timestamptz',
    schema: instant,
    changelog: true,
    event: true,
    sort: 'created_at',
    description: 'When the incident was created in Tocsin',
  },
  createdBy: {
    ...text('created_by'),
    changelog: true,
    event: true,
    description: 'ID, as text, of the user whose API key created the incident',
  },
  createdByKey: {
    name: 'created_by_key',
    type: 'jsonb',
    schema: recordedKey.nullable(),
    initial: null,
    event: true,
    description: 'The API key, or session, that created it for the user; null: not known, or an import created it',
  },
  /** The changelog has each value by itself. */
  customFields: {
    name: 'custom_fields',
    type: 'jsonb',
    schema: z.record(z.string(), z.unknown()),
    event: true,
    description: 'Values by the slugs of their fields, archived fields included; a field without a value is absent',
    toEvent: shortenFields,
  },
  archivedAt: {
    ...moment('archived_at'),
    changelog: true,
    event: true,
    description: 'When the incident was archived; null: it is active',
  },
  archivedBy: {
    ...nullableId('archived_by'),
    changelog: true,
    event: true,
    description: 'ID of the user who archived the incident; null: it is active',
  },
  incidentManager: {
    ...optionalText('incident_manager'),
    refersTo: 'user',
    description: 'ID, as text, of the user who leads the response; empty: nobody',
    inputDescription: 'ID, as text, of an active user who leads the response, or what is stored; empty: nobody',
    input: person,
  },
  incidentResponders: {
    ...optionalTexts('incident_responders'),
    refersTo: 'user',
    description: 'IDs, as text, of the users who take part in the response',
    inputDescription: 'IDs, as text, of active users who take part, and what is stored; repetitions are dropped',
    input: z.array(person.min(1, "Must be a user's ID")).max(100),
    fromRequest: (value: readonly string[]) => [...new Set(value)],
  },
  /** The changelog has each role by itself. */
  roles: {
    ...roleHolders('roles'),
    refersTo: 'user',
    description: 'IDs, as text, of the users who have roles, by the keys of these; a role that nobody has is absent',
    inputDescription:
      'IDs, as text, of active users, and what is stored, by the keys of their roles; other roles keep their holders, `[]`: nobody; repetitions are dropped',
  },
  hasAssignees: {
    name: 'has_assignees',
    schema: z.boolean(),
    description: 'Whether there is a manager or at least one responder',
  },
  restricted: {
    name: 'restricted',
    type: 'boolean',
    ...BY_CLIENTS,
    schema: z.boolean(),
    input: z.boolean(),
    default: false,
    description:
      'Whether it exists only for its declarer, manager and responders, those in `visible_to`, and users with the permission `view_restricted`',
    createDescription:
      'Whether it exists only for few, see `visible_to`; default: as the severity says, which is false unless configured',
  },
  visibleTo: {
    name: 'visible_to',
    type: 'jsonb',
    ...BY_CLIENTS,
    schema: viewers,
    input: viewersInput,
    default: { users: [], teams: [] },
    refersTo: 'viewers',
    fromRequest: ({ users = [], teams = [] }: { users?: readonly number[]; teams?: readonly number[] }) => ({
      ...{ users: [...new Set(users)], teams: [...new Set(teams)] },
    }),
    description: 'Who else may see it while it is restricted: IDs of users, and of teams for their members',
    inputDescription:
      'Who else may see it while it is restricted: IDs of active users and teams, or what is stored; repetitions are dropped',
  },
  /** Whether an alert declared it and nobody has acted on it since (contract: Alerts). */
  isUnhandledAlert: { column: 'is_unhandled_alert', type: 'boolean', schema: z.boolean(), initial: false },
  /** What `incident.update_due` says of the workspace; null: nothing is promised, or the event is published. */
  updateReminder: {
    column: 'update_reminder',
    type: 'jsonb',
    schema: z.custom<EventWorkspace | null>(),
    initial: null,
  },
  /** Whether it is a duplicate of another incident (contract: Relations). */
  isDuplicate: { column: 'is_duplicate', type: 'boolean', schema: z.boolean(), initial: false },
  /** A part of the chat channel's name. A create sets it with its request for a channel. */
  shortTitle: { column: 'short_title', type: 'text', schema: z.string(), initial: '' },
} as const satisfies Record<string, Property>;
