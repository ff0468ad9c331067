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
  'api_keys:manage',
  'configuration:read',
  'configuration:write',
  'imports:write',
  'alerts:write',
] as const;

export type Scope = (typeof SCOPES)[number];
export const PERMISSIONS = ['manage_settings', 'manage_teams', 'delete_permanently'] as const;
export type Permission = (typeof PERMISSIONS)[number];
/**
 * What an operation requires besides the key's scope. The gateway and the service check the seat and the permissions of
 * the key's owner; the incident service checks the state of the incident.
 */
const PREREQUISITES = ['active_responder', ...PERMISSIONS, 'mutable_incident', 'slack_channel'] as const;
export type Prerequisite = (typeof PREREQUISITES)[number];
