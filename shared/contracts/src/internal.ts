import { z } from 'zod';
import { customFieldDefinition } from './custom-field-definition.ts';
import { serviceSnapshot, teamSnapshot, userSnapshot } from './events.ts';

/**
 * What an owner answers to a replica that asks for its changes: `GET <path>?workspace_id=<id>&since=<version>`.
 * It holds everything that changed after `since`, in full, and the version at which the replica then stands.
 */
export const INTERNAL_PATHS = {
  catalogChanges: '/internal/changes',
  customFieldChanges: '/internal/changes',
  userChanges: '/internal/users/changes',
  unmanagedReferences: '/internal/unmanaged-references',
} as const;

const version = z.int().min(0);

export const serviceTier = z.object({ key: z.string(), label: z.string(), order: z.int(), is_default: z.boolean() });

/** The tiers are few and always whole, in rank order. */
export const catalogChanges = z.object({
  version,
  teams: z.array(teamSnapshot),
  services: z.array(serviceSnapshot),
  tiers: z.array(serviceTier),
});

export const customFieldChanges = z.object({ version, fields: z.array(customFieldDefinition) });

export const userChanges = z.object({ version, users: z.array(userSnapshot) });

/** The `service` values of a workspace's active incidents that are no slug in its catalog, by count descending, then value. */
export const unmanagedReferences = z.object({
  references: z.array(z.object({ value: z.string(), incident_count: z.int().min(1) })),
  truncated: z.boolean(),
});

export type CatalogChanges = z.infer<typeof catalogChanges>;
export type CustomFieldChanges = z.infer<typeof customFieldChanges>;
export type UserChanges = z.infer<typeof userChanges>;
export type UnmanagedReferences = z.infer<typeof unmanagedReferences>;
