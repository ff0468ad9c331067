import type { Documentation } from '@tocsin/http';
import type { accountContracts } from './contracts.ts';
import type { ApiKeyWire, MeWire, UserWire } from './wire.ts';

const me: MeWire = {
  installation_id: '5b0c2a52-8a0e-4d6c-9f0a-2f3c1f3f9d11',
  workspace: { id: 1, slug: 'acme', name: 'Acme', demo: false, short_title_required: false, chat: true },
  user: { id: 1, email: 'demo@acme.example', name: 'Demo Owner', role: 'owner', seat: 'responder', active: true },
  permissions: ['manage_settings', 'manage_teams', 'delete_permanently'],
  api_key: {
    id: 1,
    name: 'demo',
    prefix: 'tcs_7Jq2',
    scopes: ['incidents:read', 'incidents:write'],
    created_at: '2026-11-20T09:00:00.000Z',
    expires_at: null,
    last_used_at: '2026-11-24T10:15:00.000Z',
  },
  quotas: [{ name: 'users', used: 1, limit: 10_000 }],
};

const newUser = { email: 'ana@acme.example', name: 'Ana', role: 'manager', seat: 'responder' } as const;
const ana: UserWire = {
  id: 2,
  revision: 1,
  ...newUser,
  active: true,
  created_at: '2026-11-24T10:00:00.000Z',
  updated_at: '2026-11-24T10:00:00.000Z',
  last_seen_at: null,
};
const view = { name: 'Severe, this quarter', search: '{"severity":["sev1"],"days":90}' };
const newKey = { name: 'Status page', scopes: ['incidents:read', 'services:read'] } as const;
const key: ApiKeyWire = {
  id: 2,
  revision: 1,
  user_id: 1,
  name: newKey.name,
  prefix: 'tcs_Xw90',
  scopes: [...newKey.scopes],
  created_at: '2026-11-24T10:00:00.000Z',
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
};
const TOKEN = 'tcs_Xw90…';
const rotated: ApiKeyWire = { ...key, id: 3, prefix: 'tcs_b31K', scopes: ['incidents:read'] };

/** contract: Users, API keys */
export const accountOperations: Documentation<typeof accountContracts> = {
  getMe: {
    description:
      'Returns the workspace, the user and the key of the token, with the permissions of the user and the quotas of the workspace. Every valid key may call it.',
    reply: me,
  },
  listUsers: {
    description:
      'Returns the users of the workspace, by email address. A page of a search may be short, or empty: only `has_more` tells whether there are more.',
    reply: { users: [ana], pagination: { limit: 50, has_more: false } },
  },
  createUser: {
    description:
      "Creates an active user. The user acts through API keys, or signs in with a link that an operator makes. `permission_denied`: the role is above the caller's. `invalid_resource_state` with `details.existing_id`: another user has the email address.",
    body: newUser,
    reply: { user: ana },
  },
  getUser: {
    description: 'Returns a user, deactivated ones included.',
    params: { id: 2 },
    reply: { user: ana },
  },
  updateUser: {
    description:
      "Changes the properties that the body contains. `If-Service-Resource-Version` must be the current revision. A deactivated user's keys are invalid within a second, and valid again after an activation; the sessions end. `permission_denied`: the role of the user, or the new one, is above the caller's. The last active owner can be neither demoted nor deactivated.",
    params: { id: 2 },
    revision: 1,
    body: { name: 'Ana Lima' },
    reply: { user: { ...ana, revision: 2, name: 'Ana Lima' } },
  },
  getUserName: {
    description: 'Returns what everybody in the workspace may know about a user. Every valid key may call it.',
    params: { id: 1 },
    reply: { user: { id: 1, name: 'Demo Owner', active: true } },
  },
  getSavedViews: {
    description: 'Returns the searches of incidents that the user of the token has stored. Nobody else sees them.',
    reply: { saved_views: { revision: 1, views: [] } },
  },
  replaceSavedViews: {
    description:
      'Replaces all views of the user of the token. `If-Service-Resource-Version` must be the current revision. What a search means is up to the client: the console stores its filters as JSON.',
    revision: 1,
    body: { views: [view] },
    reply: { saved_views: { revision: 2, views: [view] } },
  },
  listApiKeys: {
    description:
      'Returns the keys of the workspace, by owner and ID, with those that have ended; without `manage_settings` only those of the caller.',
    reply: { api_keys: [key], pagination: { limit: 50, has_more: false } },
  },
  createApiKey: {
    description:
      "Creates a key and returns its token, which is never shown again. `missing_scope`: a scope that the key of the request lacks. It expires no later than the key of the request; made in a session, it needs `manage_settings` for more than 90 days. A key for another user needs `manage_settings`, and a role that is not above the caller's.",
    body: { ...newKey, scopes: [...newKey.scopes] },
    reply: { api_key: key, token: TOKEN },
  },
  getApiKey: {
    description: 'Returns a key, never its token.',
    params: { id: 2 },
    reply: { api_key: key },
  },
  updateApiKey: {
    description:
      'Renames a key, or takes scopes from it. `If-Service-Resource-Version` must be the current revision. A key that has ended cannot be changed.',
    params: { id: 2 },
    revision: 1,
    body: { scopes: ['incidents:read'] },
    reply: { api_key: { ...key, revision: 2, scopes: ['incidents:read'] } },
  },
  rotateApiKey: {
    description:
      'Creates a key with the same owner, name, scopes and expiry, and returns it with its token. The old key ends at once, or after `overlap_hours`. `missing_scope`: the key has a scope that the key of the request lacks. `permission_denied`: it expires later than a key that the caller may make.',
    params: { id: 2 },
    body: { overlap_hours: 1 },
    reply: { api_key: rotated, token: 'tcs_b31K…' },
  },
  revokeApiKey: {
    description: 'Ends a key for good. It can be repeated.',
    params: { id: 3 },
    reply: { api_key: { ...rotated, revision: 2, revoked_at: '2026-11-24T11:00:00.000Z' } },
  },
};
