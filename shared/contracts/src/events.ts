import { z } from 'zod';
import { auditEntry } from './audit.ts';
import { customFieldDefinition } from './custom-field-definition.ts';
import { instant } from './envelope.ts';
import { incidentChange, incidentReference, incidentSnapshot, timelineEventSnapshot } from './incident-snapshots.ts';
import { timestampInput } from './timestamp.ts';

const id = z.int().min(1);
/** Counts the changes to one owner's data in one workspace; see `Versions` in the runtime. */
const version = z.int().min(1).meta({ description: "Counts the changes of the owner's data in the workspace" });
const revision = z
  .int()
  .min(1)
  .meta({ description: 'The revision that this is: of two events, the larger one is newer' });
const archivedAt = instant.nullable().meta({ description: 'When it was archived; null: it is active' });

export const teamSnapshot = z.object({
  id: id.meta({ description: 'ID of the team' }),
  revision,
  name: z.string().meta({ description: 'The name for people' }),
  slug: z.string().meta({ description: 'A name for programs; never changes' }),
  parent_team_id: id.nullable().meta({ description: 'ID of the team above this one; null: at the top' }),
  archived_at: archivedAt,
});

export const serviceSnapshot = z.object({
  id: id.meta({ description: 'ID of the service' }),
  revision,
  name: z.string().meta({ description: 'The name for people' }),
  slug: z.string().meta({ description: 'Names the service in incidents; never changes' }),
  tier: z.string().meta({ description: 'Key of the service tier' }),
  owner_team_id: id.nullable().meta({ description: 'ID of the team that owns the service; null: none' }),
  archived_at: archivedAt,
});

export const userSnapshot = z.object({
  id: id.meta({ description: 'ID of the user' }),
  email: z.string().meta({ description: 'E-mail address, unique in the workspace' }),
  name: z.string().meta({ description: 'The name for people' }),
  active: z.boolean().meta({ description: 'Whether the user may act; false after deactivation' }),
  seat: z.enum(['responder', 'none']).meta({ description: 'Whether the user may write' }),
  role: z
    .enum(['owner', 'admin', 'manager', 'member', 'viewer'])
    .meta({ description: 'Decides which settings the user may change' }),
});

export const workspaceSnapshot = z.object({
  name: z.string().meta({ description: 'The name for people' }),
  history_days: z
    .number()
    .positive()
    .nullable()
    .meta({ description: 'How many days back lists of incidents go; null: without limit' }),
  reporting_currency: z
    .string()
    .meta({ description: 'The currency, a code of three letters, that lists convert revenue to' }),
  short_title_required: z.boolean().meta({ description: 'Whether a new incident must have a short title' }),
});

const incident = incidentSnapshot.meta({ description: 'The incident after the change' });
const changes = z.array(incidentChange);
/** Events of earlier releases about archiving lack it. */
const archivingChanges = changes.optional().meta({ description: 'The changed properties' });

const timelineEvent = (description: string) =>
  z.object({
    incident: incidentReference.meta({ description: 'The incident whose timeline changed' }),
    timeline_event: timelineEventSnapshot.meta({ description }),
  });

/** The properties of an event of another system: whose incident it is about. */
const subject = {
  workspace_id: id.meta({ description: 'ID of the workspace, as in the envelope' }),
  incident_id: id.meta({ description: 'ID of an incident of that workspace' }),
};

/** The schema of `data` for every event type, published and consumed. */
export const eventData = {
  'incident.created': z.object({ incident }),
  'incident.updated': z.object({
    incident,
    changes: changes.meta({ description: 'The changed properties; empty if only the timeline changed' }),
  }),
  'incident.archived': z.object({ incident, changes: archivingChanges }),
  'incident.restored': z.object({ incident, changes: archivingChanges }),
  'incident.imported': z.object({
    incident,
    outcome: z
      .enum(['created', 'updated'])
      .meta({ description: 'Whether the import created the incident or changed it, its timeline included' }),
  }),
  'timeline_event.created': timelineEvent('The new timeline event'),
  'timeline_event.updated': timelineEvent('The timeline event after the change'),
  'timeline_event.deleted': timelineEvent('The timeline event as it was before it was deleted'),
  'service.changed': z.object({
    version,
    service: serviceSnapshot.meta({ description: 'The service after the change' }),
  }),
  'team.changed': z.object({ version, team: teamSnapshot.meta({ description: 'The team after the change' }) }),
  'custom-field.changed': z.object({
    version,
    field: customFieldDefinition.meta({ description: 'The definition after the change' }),
  }),
  'workspace.changed': z.object({
    version,
    workspace: workspaceSnapshot.meta({ description: 'The settings after the change' }),
  }),
  'user.changed': z.object({ version, user: userSnapshot.meta({ description: 'The user after the change' }) }),
  'audit.recorded': z.object({ entry: auditEntry.meta({ description: 'The change of a setting' }) }),
  'customer-impact.updated': z.object({
    ...subject,
    affected_customers: z.int().min(0).meta({ description: 'How many customers are affected' }),
    mrr: z
      .array(
        z.object({
          currency: z
            .string()
            .regex(/^[A-Z]{3}$/)
            .meta({ description: 'A currency code of three letters' }),
          amount_minor: z
            .int()
            .min(0)
            .meta({ description: 'The amount in minor units of the currency, such as cents' }),
        }),
      )
      .meta({ description: 'The monthly recurring revenue of these customers, by currency' }),
    as_of: timestampInput.meta({
      description: 'When this was computed; a message that is older than the last one is ignored',
    }),
  }),
  'investigation.run.updated': z.object({
    ...subject,
    run_id: z
      .string()
      .min(1)
      .max(128)
      .refine((text) => text.isWellFormed() && !text.includes('\0'), 'Must not contain U+0000 or an unpaired surrogate')
      .meta({ description: 'Identifies the run of the incident; a later message about it has the same' }),
    status: z
      .enum(['queued', 'running', 'completed', 'failed', 'cancelled', 'unavailable'])
      .meta({ description: 'The state of the run' }),
    started_at: timestampInput.meta({ description: 'When the run started' }),
    completed_at: timestampInput.optional().meta({ description: 'When the run ended; absent until then' }),
  }),
} as const;

export type EventType = keyof typeof eventData;
export type EventData<Type extends EventType> = z.infer<(typeof eventData)[Type]>;
export type TeamSnapshot = z.infer<typeof teamSnapshot>;
export type ServiceSnapshot = z.infer<typeof serviceSnapshot>;
export type UserSnapshot = z.infer<typeof userSnapshot>;
export type WorkspaceSnapshot = z.infer<typeof workspaceSnapshot>;
