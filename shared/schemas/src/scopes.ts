/** Every scope that an API key can have (contract: Authentication). */
export const SCOPES = [
  'incidents:read',
  'incidents:write',
  'slack_context:read',
  'services:read',
  'services:write',
  'teams:read',
  'teams:write',
  'custom_fields:read',
  'custom_fields:write',
  'webhooks:manage',
  'users:read',
  'users:write',
  'users:manage',
  'api_keys:manage',
  'configuration:read',
  'configuration:write',
  'imports:write',
  'alerts:write',
  'restricted:read',
] as const;

export type Scope = (typeof SCOPES)[number];
export const PERMISSIONS = ['manage_settings', 'manage_teams', 'view_restricted', 'delete_permanently'] as const;
/** What a caller needs of both to see every restricted incident. */
export const VIEW_RESTRICTED = { scope: 'restricted:read', permission: 'view_restricted' } as const satisfies {
  scope: Scope;
  permission: (typeof PERMISSIONS)[number];
};
export type Permission = (typeof PERMISSIONS)[number];
/**
 * What an operation requires besides the key's scope. The gateway and the service check the seat and the permissions of
 * the key's owner; the incident service checks the state of the incident.
 */
const PREREQUISITES = ['active_responder', ...PERMISSIONS, 'mutable_incident', 'slack_channel'] as const;
export type Prerequisite = (typeof PREREQUISITES)[number];
