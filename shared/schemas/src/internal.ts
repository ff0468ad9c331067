import { z } from 'zod';
import { customFieldDefinition } from './custom-field-definition.ts';
import { instant } from './envelope.ts';
import { serviceSnapshot, teamSnapshot, userSnapshot } from './events.ts';

/**
 * The internal endpoints. A replica reads its owner's changes page by page, by
 * `GET <path of pages>?workspace_id=<id>&since=<version>&after=<next of the previous page>`, oldest first.
 */
export const INTERNAL_PATHS = {
  catalogChangePages: '/internal/changes/pages',
  customFieldChangePages: '/internal/changes/pages',
  userChangePages: '/internal/users/changes/pages',
  unmanagedReferences: '/internal/unmanaged-references',
  serviceTiers: '/internal/service-tiers',
  committedServiceTiers: '/internal/configuration/service-tiers',
  configurationChanges: '/internal/configuration-changes',
  lastIncidentNumber: '/internal/last-incident-number',
  eventContexts: '/internal/event-contexts',
  quotaUse: '/internal/quota-use',
  trackerHooks: '/internal/tracker-hooks',
  idempotencyKeys: '/internal/idempotency-keys',
  people: '/internal/people',
  actingUsers: '/internal/acting-users',
  chatMessages: '/internal/chat-messages',
  exportedResources: '/internal/exported-resources',
  memberships: '/internal/memberships',
  onCall: '/internal/on-call',
  auditLogDeletions: '/internal/audit-log/deletions',
  personalData: '/internal/personal-data',
  personalDataErasure: '/internal/personal-data/erasure',
} as const;

const version = z.int().min(0);

/** The query of the paths of pages. */
export const changePageQuery = z.strictObject({
  workspace_id: z.int().min(1),
  since: version,
  after: z
    .string()
    .regex(/^\d{1,15}\.\d\.\d{1,15}$/)
    .optional(),
});

/** The query of paths about a workspace. */
export const workspaceQuery = z.strictObject({ workspace_id: z.int().min(1) });

const serviceTier = z.object({ key: z.string(), label: z.string(), order: z.int(), is_default: z.boolean() });

/** A tier as the configuration of a workspace has it. */
const configuredTier = serviceTier.extend({ description: z.string() });

/**
 * The tiers of a workspace as the catalog stores them. `prepared` becomes `tiers` if, and only if, the incident service
 * commits a configuration with its `version` (ADR 55).
 */
export const storedServiceTiers = z.object({
  /** Counts the lists that were prepared. */
  version,
  tiers: z.array(configuredTier),
  prepared: z.array(configuredTier).nullable(),
});

/** A list of tiers to prepare, within the transaction of the incident service that changes the configuration. */
export const newServiceTiers = workspaceQuery.extend({
  /** The version that the sender has read; with another one nothing is prepared. */
  read_version: version,
  /** The version of the latest list that the incident service has committed. */
  committed_version: version,
  version: z.int().min(1),
  tiers: z.array(configuredTier).min(1),
});

/** With an outcome other than `prepared`, nothing has changed. */
export const tiersPreparation = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('prepared') }),
  z.object({ outcome: z.literal('changed_since') }),
  z.object({
    outcome: z.literal('in_use'),
    /** Services by the removed tier that they have. */
    services: z.array(z.object({ tier: z.string(), count: z.int().min(1), slug: z.string() })),
  }),
]);

/** The version of the latest list of tiers that the incident service has committed. */
export const committedServiceTiers = z.object({ version });

/** Names the workspace whose configuration has changed. */
export const changedConfiguration = workspaceQuery;

/**
 * A page of changes. With `next` null, the replica has the owner's `version`; otherwise it has all changes up to `version`,
 * some later ones, and continues with `next`. Each change has the version at which its record was so.
 */
const changePage = <Change extends z.ZodType>(change: Change) =>
  z.object({ version, next: z.string().max(64).nullable(), changes: z.array(change) });

/** `tiers` always holds all tiers, in rank order: there are only a few. */
export const catalogChangePage = changePage(
  z.union([z.object({ version, team: teamSnapshot }), z.object({ version, service: serviceSnapshot })]),
).extend({ tiers: z.array(serviceTier) });

export const customFieldChangePage = changePage(z.object({ version, field: customFieldDefinition }));

export const userChangePage = changePage(z.object({ version, user: userSnapshot }));

/** The `service` values of active incidents that are not a slug in the catalog, by count descending, then by value. */
export const unmanagedReferences = z.object({
  references: z.array(z.object({ value: z.string(), incident_count: z.int().min(1) })),
  truncated: z.boolean(),
});

/** Entries of the audit log of a workspace to delete. */
export const auditLogDeletion = z.strictObject({ workspace_id: z.int().min(1), before: instant });
/** Whether there may be more. */
export const deletedEntries = z.object({ more: z.boolean() });

/** Names a user whose teams are asked for. */
export const membershipsQuery = z.strictObject({ workspace_id: z.int().min(1), user_id: z.int().min(1) });

export const memberships = z.object({ team_ids: z.array(z.int().min(1)) });
export type Memberships = z.infer<typeof memberships>;

/** The most teams that one question about who is on call names. */
export const MAX_TEAMS_ON_CALL = 100;

/** Asks who is on call for teams. */
export const onCallQuery = workspaceQuery.extend({ team_ids: z.array(z.int().min(1)).max(MAX_TEAMS_ON_CALL) });

/** The first user who is on call now for each of these teams for which a user is. */
export const onCall = z.object({ teams: z.array(z.object({ team_id: z.int().min(1), user_id: z.int().min(1) })) });
export type UsersOnCall = z.infer<typeof onCall>;

/** The number of a workspace's latest committed incident (`INC-<number>`); 0 if there is none. */
export const lastIncidentNumber = z.object({ number: z.int().min(0) });

/** Asks for what events do not say of incidents, and for names of people, by IDs and email addresses. */
export const eventContextQuery = workspaceQuery.extend({
  incident_ids: z.array(z.int().min(1)).max(1_000),
  user_ids: z.array(z.int().min(1)).max(1_000),
  emails: z.array(z.string().max(254)).max(100),
  /** Slugs. */
  services: z.array(z.string()).max(1_000),
});

const labelled = z.object({ key: z.string(), label: z.string() });

/** What describes the events of a workspace: the incidents as they are now, and the lists that their keys are of. */
export const eventContext = z.object({
  incidents: z.array(z.looseObject({ id: z.int().min(1) })),
  users: z.array(z.object({ id: z.int().min(1), email: z.string(), name: z.string(), active: z.boolean() })),
  statuses: z.array(labelled.extend({ is_terminal: z.boolean() })),
  /** The worst first. */
  severities: z.array(labelled),
  services: z.array(z.object({ slug: z.string(), owner_team_id: z.int().min(1).nullable() })),
});

/** How much a workspace uses of the quotas that a service enforces, by their names; of one, whether it has a chat. */
export const quotaUse = z.object({
  used: z.record(z.string().max(64), z.int().min(0)),
  chat: z.boolean().optional(),
});

/** A webhook of a tracker, as it arrived: the exact bytes in base64, and the headers that may sign them. */
export const trackerHook = workspaceQuery.extend({
  tracker_id: z.int().min(1),
  headers: z.partialRecord(
    z.enum(['x-hub-signature-256', 'x-hub-signature', 'x-gitlab-token', 'linear-signature']),
    z.string().max(1_024),
  ),
  body: z.string().max(700_000),
});
/** Whether it is signed with the secret of the tracker. */
export const trackerHookAnswer = z.object({ is_verified: z.boolean() });

/** Names a key that a user has sent. */
export const idempotencyKeyQuery = z.strictObject({
  workspace_id: z.int().min(1),
  user_id: z.int().min(1),
  key: z.string().min(1).max(128),
});

const idempotencyKeyUse = z.object({
  operation: z.string(),
  /** `unknown`: the process crashed during an effect that cannot be rolled back. */
  state: z.enum(['in_progress', 'completed', 'unknown']),
  status: z.int().nullable(),
  resource_path: z.string().nullable(),
  created_at: instant,
  expires_at: instant,
});

/** What the creates of a service have done with a key: one item for each operation that it was used for. */
export const idempotencyKeyUses = z.object({ uses: z.array(idempotencyKeyUse) });

/** The most that one question about people names. */
export const MAX_PEOPLE = 1_000;

/** Asks for the users of a workspace by their IDs, and by email addresses in any case of letters. */
export const peopleQuery = workspaceQuery.extend({
  ids: z.array(z.int().min(1)).max(MAX_PEOPLE),
  emails: z.array(z.string().max(254)).max(MAX_PEOPLE),
});

/** Those that exist, deactivated ones included, in any order. */
export const people = z.object({
  users: z.array(z.object({ id: z.int().min(1), email: z.string(), name: z.string(), active: z.boolean() })),
});

/** The most characters of a message in a chat. */
const MAX_CHAT_MESSAGE = 40_000;

/** A message to post into a channel of the workspace's chat; its text is in the markup of the chat. */
export const chatMessage = workspaceQuery.extend({
  channel: z.string().min(1).max(64),
  text: z.string().min(1).max(MAX_CHAT_MESSAGE),
});

/** Whether the chat has taken a message, or why not. */
export const chatMessageOutcome = z.object({
  failure: z
    .object({
      reason: z.enum(['not_connected', 'channel_missing', 'rate_limited', 'unavailable', 'refused']),
      /** What the chat said. */
      message: z.string(),
      /** Seconds; with `rate_limited`. */
      retry_after: z.number().optional(),
    })
    .nullable(),
});

/** Asks for a page of a kind of resources, in the order of their slugs. */
export const exportedResourcesQuery = workspaceQuery.extend({
  kind: z.enum(['team', 'service', 'field']),
  /** The `next` of the previous page; empty: the first page. */
  after: z.string().max(200),
});

/** Resources as an export has them, archived ones included. IDs of other resources are their slugs. */
export const exportedResources = z.object({
  resources: z.array(z.record(z.string(), z.unknown())),
  next: z.string().nullable(),
});

export type ChatMessage = z.infer<typeof chatMessage>;
export type ChatMessageOutcome = z.infer<typeof chatMessageOutcome>;
export type TrackerHook = z.infer<typeof trackerHook>;
export type TrackerHookAnswer = z.infer<typeof trackerHookAnswer>;
export type ExportedResources = z.infer<typeof exportedResources>;
export type EventContextQuery = z.infer<typeof eventContextQuery>;
export type EventContext = z.infer<typeof eventContext>;
export type People = z.infer<typeof people>;
export type IdempotencyKeyUse = z.infer<typeof idempotencyKeyUse>;
export type CatalogChangePage = z.infer<typeof catalogChangePage>;
export type CustomFieldChangePage = z.infer<typeof customFieldChangePage>;
export type UserChangePage = z.infer<typeof userChangePage>;
export type UnmanagedReferences = z.infer<typeof unmanagedReferences>;
export type LastIncidentNumber = z.infer<typeof lastIncidentNumber>;
export type ConfiguredTier = z.infer<typeof configuredTier>;
export type StoredServiceTiers = z.infer<typeof storedServiceTiers>;
export type NewServiceTiers = z.infer<typeof newServiceTiers>;
export type TiersPreparation = z.infer<typeof tiersPreparation>;
export type CommittedServiceTiers = z.infer<typeof committedServiceTiers>;
export type QuotaUse = z.infer<typeof quotaUse>;
