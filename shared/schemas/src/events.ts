import { z } from 'zod';
import { auditEntry } from './audit.ts';
import { customFieldDefinition } from './custom-field-definition.ts';
import { instant } from './envelope.ts';
import { incidentChange, incidentReference, incidentSnapshot, timelineEventSnapshot } from './incident-snapshots.ts';
import { followUpSnapshot } from './follow-up-snapshot.ts';
import type { ServiceName } from './service-calls.ts';
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
  observability_names: z.array(z.string()).optional().meta({
    description: 'Names of the service in monitoring systems; absent without any',
  }),
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

const workspaceSnapshot = z.object({
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

/** Who did it, as the changelog names it. Events of earlier releases lack it. */
const actor = {
  actor: z
    .string()
    .optional()
    .meta({ description: 'Who did it: the ID of a user as text, or the name of a part of Tocsin, such as `slack`' }),
  api_key: z
    .object({
      name: z.string().meta({ description: 'Its name at that time' }),
      prefix: z.string().meta({ description: 'The first characters of its token' }),
    })
    .nullable()
    .optional()
    .meta({ description: 'The API key with which the user did it; null: none' }),
};

const timelineEvent = (description: string) =>
  z.object({
    incident: incidentReference.meta({ description: 'The incident whose timeline changed' }),
    timeline_event: timelineEventSnapshot.meta({ description }),
    ...actor,
  });

const followUp = (description: string) =>
  z.object({
    incident: incidentReference
      .omit({ revision: true })
      .meta({ description: 'The incident that it belongs to, whose revision stays' }),
    follow_up: followUpSnapshot.meta({ description }),
    ...actor,
  });

/** The properties of an event of another system: whose incident it is about. */
const subject = {
  workspace_id: id.meta({ description: 'ID of the workspace, as in the envelope' }),
  incident_id: id.meta({ description: 'ID of an incident of that workspace' }),
};

/** What the events of the feed are about (contract: Event feed). */
export type ResourceKind = 'incident' | 'service' | 'team' | 'custom_field';

interface EventDefinition {
  summary: string;
  /** The apps that publish it; none: other systems do. The broker can enforce this (ADR 75). */
  publishers: readonly ('gateway' | ServiceName)[];
  /** What it is about, if it is in the event feed: ADR 30 has the reasons for those that are not. */
  about?: ResourceKind;
  /** The schema of `data`. */
  data: z.ZodObject;
}

/** Every type of event, published and consumed. Its example is in infra/generate/event-examples.ts. */
export const EVENTS = {
  'incident.created': {
    summary: 'An incident was created',
    publishers: ['incident'],
    about: 'incident',
    data: z.object({ incident, ...actor }),
  },
  'incident.updated': {
    summary: 'Properties, values or the timeline of an incident changed',
    publishers: ['incident'],
    about: 'incident',
    data: z.object({
      incident,
      changes: changes.meta({ description: 'The changed properties; empty if only the timeline changed' }),
      ...actor,
    }),
  },
  'incident.archived': {
    summary: 'An incident was archived',
    publishers: ['incident'],
    about: 'incident',
    data: z.object({ incident, changes: archivingChanges, ...actor }),
  },
  'incident.restored': {
    summary: 'An archived incident was restored',
    publishers: ['incident'],
    about: 'incident',
    data: z.object({ incident, changes: archivingChanges, ...actor }),
  },
  'incident.imported': {
    summary: 'An import from another system created or changed an incident, with its timeline',
    publishers: ['incident'],
    about: 'incident',
    data: z.object({
      incident,
      outcome: z
        .enum(['created', 'updated'])
        .meta({ description: 'Whether the import created the incident or changed it, its timeline included' }),
      ...actor,
    }),
  },
  'timeline_event.created': {
    summary: 'A timeline event was added to an incident, by a client, a lifecycle operation or an import',
    publishers: ['incident'],
    about: 'incident',
    data: timelineEvent('The new timeline event'),
  },
  'timeline_event.updated': {
    summary: 'Properties of a timeline event changed',
    publishers: ['incident'],
    about: 'incident',
    data: timelineEvent('The timeline event after the change'),
  },
  'timeline_event.deleted': {
    summary: 'A timeline event was deleted',
    publishers: ['incident'],
    about: 'incident',
    data: timelineEvent('The timeline event as it was before it was deleted'),
  },
  'timeline_event.restored': {
    summary: 'A deleted timeline event was restored',
    publishers: ['incident'],
    about: 'incident',
    data: timelineEvent('The timeline event as it is again, with its next revision'),
  },
  'follow_up.created': {
    summary: 'A follow-up was added to an incident',
    publishers: ['incident'],
    about: 'incident',
    data: followUp('The new follow-up'),
  },
  'follow_up.updated': {
    summary: 'Properties of a follow-up changed',
    publishers: ['incident'],
    about: 'incident',
    data: followUp('The follow-up after the change'),
  },
  'follow_up.deleted': {
    summary: 'A follow-up was deleted',
    publishers: ['incident'],
    about: 'incident',
    data: followUp('The follow-up as it was before it was deleted'),
  },
  'service.changed': {
    summary: 'A service was created, changed, archived or restored',
    publishers: ['catalog'],
    about: 'service',
    data: z.object({
      version,
      service: serviceSnapshot.meta({ description: 'The service after the change' }),
    }),
  },
  'team.changed': {
    summary: 'A team was created, changed, archived or restored',
    publishers: ['catalog'],
    about: 'team',
    data: z.object({ version, team: teamSnapshot.meta({ description: 'The team after the change' }) }),
  },
  'custom-field.changed': {
    summary: 'A custom field was created, changed, archived or restored',
    publishers: ['custom-field'],
    about: 'custom_field',
    data: z.object({
      version,
      field: customFieldDefinition.meta({ description: 'The definition after the change' }),
    }),
  },
  // Behind the others of the feed: clients know variants of its description by their places.
  'incident.deleted': {
    summary: 'An incident was deleted for good: forget what you have of it',
    publishers: ['incident'],
    about: 'incident',
    data: z.object({
      incident: incidentReference.omit({ revision: true }).meta({ description: 'The incident that is gone' }),
    }),
  },
  'workspace.changed': {
    summary: 'A workspace was created, or its settings or configuration changed',
    publishers: ['gateway'],
    data: z.object({
      version,
      workspace: workspaceSnapshot.meta({ description: 'The settings after the change' }),
    }),
  },
  'user.changed': {
    summary: 'A user was created, changed, deactivated or activated',
    publishers: ['gateway'],
    data: z.object({ version, user: userSnapshot.meta({ description: 'The user after the change' }) }),
  },
  'user.erased': {
    summary: 'A user was erased: nothing that was published before this event is about the person any longer',
    publishers: ['incident'],
    data: z.object({ user: z.object({ id: id.meta({ description: 'ID of the user' }) }) }),
  },
  'audit.recorded': {
    summary: 'Somebody changed a setting of a workspace',
    publishers: ['gateway', 'incident', 'catalog', 'webhook'],
    data: z.object({ entry: auditEntry.meta({ description: 'The change of a setting' }) }),
  },
  'customer-impact.updated': {
    summary: 'Another system computed the customer impact of an incident',
    publishers: [],
    data: z.object({
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
  },
  'investigation.run.updated': {
    summary: 'Another system reported the progress of an investigation of an incident',
    publishers: [],
    data: z.object({
      ...subject,
      run_id: z
        .string()
        .min(1)
        .max(128)
        .refine(
          (text) => text.isWellFormed() && !text.includes('\0'),
          'Must not contain U+0000 or an unpaired surrogate',
        )
        .meta({ description: 'Identifies the run of the incident; a later message about it has the same' }),
      status: z
        .enum(['queued', 'running', 'completed', 'failed', 'cancelled', 'unavailable'])
        .meta({ description: 'The state of the run' }),
      started_at: timestampInput.meta({ description: 'When the run started' }),
      completed_at: timestampInput.optional().meta({ description: 'When the run ended; absent until then' }),
    }),
  },
  'incident.update_due': {
    summary: 'The time at which the next update about an active incident was promised has passed',
    publishers: ['incident'],
    about: 'incident',
    data: z.object({ incident: incident.meta({ description: 'The incident, whose revision stays' }) }),
  },
  'incident.postmortem_changed': {
    summary: 'The post-mortem of an incident was begun, or its state changed',
    publishers: ['incident'],
    about: 'incident',
    data: z.object({
      incident: incidentReference.omit({ revision: true }).meta({ description: 'The incident, whose revision stays' }),
      postmortem: z
        .object({
          revision: id.meta({ description: 'Its revision after the change' }),
          state: z.string().meta({ description: '`draft`, `in_review` or `published`' }),
          previous_state: z.string().nullable().meta({ description: 'The state before; null: it was begun' }),
        })
        .meta({ description: 'The post-mortem after the change' }),
      ...actor,
    }),
  },
} as const satisfies Record<string, EventDefinition>;

type Events = typeof EVENTS;
export type EventType = keyof Events;
export type EventData<Type extends EventType> = z.infer<Events[Type]['data']>;
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** A type of events in the event feed. Those of a timeline are about its incident: a reader gets both in one order. */
export type FeedType = { [Type in EventType]: Events[Type] extends { about: ResourceKind } ? Type : never }[EventType];
export const FEED_TYPES = EVENT_TYPES.filter((type): type is FeedType => 'about' in EVENTS[type]);

/** The schema of `data` by type. */
export const eventData = Object.fromEntries(EVENT_TYPES.map((type) => [type, EVENTS[type].data])) as {
  [Type in EventType]: Events[Type]['data'];
};
export type TeamSnapshot = z.infer<typeof teamSnapshot>;
export type ServiceSnapshot = z.infer<typeof serviceSnapshot>;
export type UserSnapshot = z.infer<typeof userSnapshot>;
