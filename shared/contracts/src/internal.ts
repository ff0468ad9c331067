import { z } from 'zod';
import { customFieldDefinition } from './custom-field-definition.ts';
import { serviceSnapshot, teamSnapshot, userSnapshot } from './events.ts';

/**
 * The internal endpoints. A replica reads its owner's changes by `GET <path>?workspace_id=<id>&since=<version>`: the
 * response has every record that changed after `since`, complete, and the version that the replica then has.
 */
export const INTERNAL_PATHS = {
  catalogChanges: '/internal/changes',
  customFieldChanges: '/internal/changes',
  userChanges: '/internal/users/changes',
  unmanagedReferences: '/internal/unmanaged-references',
  lastIncidentNumber: '/internal/last-incident-number',
} as const;

const version = z.int().min(0);

export const serviceTier = z.object({ key: z.string(), label: z.string(), order: z.int(), is_default: z.boolean() });

/** `tiers` always holds all tiers, in rank order: there are only a few. */
export const catalogChanges = z.object({
  version,
  teams: z.array(teamSnapshot),
  services: z.array(serviceSnapshot),
  tiers: z.array(serviceTier),
});

export const customFieldChanges = z.object({ version, fields: z.array(customFieldDefinition) });

export const userChanges = z.object({ version, users: z.array(userSnapshot) });

/** The `service` values of active incidents that are not a slug in the catalog, by count descending, then by value. */
export const unmanagedReferences = z.object({
  references: z.array(z.object({ value: z.string(), incident_count: z.int().min(1) })),
  truncated: z.boolean(),
});

/** The number of a workspace's latest committed incident (`INC-<number>`); 0 if there is none. */
export const lastIncidentNumber = z.object({ number: z.int().min(0) });

export type CatalogChanges = z.infer<typeof catalogChanges>;
export type CustomFieldChanges = z.infer<typeof customFieldChanges>;
export type UserChanges = z.infer<typeof userChanges>;
export type UnmanagedReferences = z.infer<typeof unmanagedReferences>;
export type LastIncidentNumber = z.infer<typeof lastIncidentNumber>;
