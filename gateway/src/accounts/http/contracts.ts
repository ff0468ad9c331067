import { SCOPES } from '@tocsin/schemas';
import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import {
  keyPage,
  keyParams,
  keyPatch,
  keyQuery,
  keyReply,
  keyRotation,
  me,
  namedUserReply,
  newKey,
  newSavedViews,
  newUser,
  savedViewsReply,
  tokenReply,
  userPage,
  userParams,
  userPatch,
  userQuery,
  userReply,
} from './wire.ts';

const USERS = '/api/v1/settings/users';
const USER = `${USERS}/{id}`;
const VIEWS = '/api/v1/users/me/views';
const KEYS = '/api/v1/settings/api-keys';
const KEY = `${KEYS}/{id}`;

/** Every key has a scope, so any valid key may call these. */
const anyKey = { tag: 'Users', scope: SCOPES } as const;
const readUsers = { tag: 'Users', scope: 'users:read' } as const;
const writeUsers = {
  tag: 'Users',
  scope: 'users:write',
  needs: ['manage_settings'],
  errors: ['permission_denied', 'invalid_resource_state'],
} as const;
const keys = { tag: 'API keys', scope: 'api_keys:manage' } as const;
const writeKeys = { ...keys, errors: ['permission_denied', 'invalid_resource_state'] } as const;
const user = { status: 200, body: userReply, versioned: true } as const;
const savedViews = { status: 200, body: savedViewsReply, versioned: true } as const;
const key = { status: 200, body: keyReply, versioned: true } as const;
const token = { body: tokenReply, versioned: true } as const;
/** What only a key that is stored has. */
const TOKEN = ['api_key.id', 'api_key.prefix', 'token'] as const;

/** contract: Users, API keys */
export const accountContracts = {
  getMe: {
    ...endpoint('GET', '/api/v1/me', 'Get the caller'),
    ...anyKey,
    cost: { base: 2 },
    reply: { status: 200, body: me },
  },
  listUsers: {
    ...endpoint('GET', USERS, 'List users'),
    ...readUsers,
    query: userQuery,
    cost: { base: 2, parameters: { q: 4 } },
    reply: { status: 200, body: userPage },
  },
  createUser: {
    ...endpoint('POST', USERS, 'Create a user'),
    ...writeUsers,
    idempotent: true,
    body: newUser,
    reply: { ...user, status: 201, assigned: ['user.id'], resource: `${USERS}/{user.id}` },
  },
  getUser: { ...endpoint('GET', USER, 'Get a user'), ...readUsers, params: userParams, reply: user },
  updateUser: {
    ...endpoint('PATCH', USER, 'Update a user'),
    ...writeUsers,
    params: userParams,
    precondition: true,
    body: userPatch,
    reply: user,
  },
  getUserName: {
    ...endpoint('GET', '/api/v1/users/{id}', "Get a user's name"),
    ...anyKey,
    params: userParams,
    reply: { status: 200, body: namedUserReply },
  },
  getSavedViews: {
    ...endpoint('GET', VIEWS, 'Get the saved views of the caller'),
    ...{ tag: 'Users', scope: 'incidents:read', reply: savedViews },
  },
  replaceSavedViews: {
    ...endpoint('PUT', VIEWS, 'Replace the saved views of the caller'),
    // Of oneself: no permission and no seat is needed.
    ...{ tag: 'Users', scope: 'users:write', errors: ['permission_denied'] },
    precondition: true,
    body: newSavedViews,
    reply: savedViews,
  },
  listApiKeys: {
    ...endpoint('GET', KEYS, 'List API keys'),
    ...keys,
    query: keyQuery,
    cost: { base: 2 },
    reply: { status: 200, body: keyPage },
  },
  createApiKey: {
    ...endpoint('POST', KEYS, 'Create an API key'),
    ...keys,
    // Only a key for somebody else needs a permission.
    errors: ['missing_role_permission', ...writeKeys.errors],
    idempotent: true,
    body: newKey,
    reply: { ...token, status: 201, assigned: TOKEN, resource: `${KEYS}/{api_key.id}` },
  },
  getApiKey: { ...endpoint('GET', KEY, 'Get an API key'), ...keys, params: keyParams, reply: key },
  updateApiKey: {
    ...endpoint('PATCH', KEY, 'Update an API key'),
    ...writeKeys,
    params: keyParams,
    precondition: true,
    body: keyPatch,
    reply: key,
  },
  rotateApiKey: {
    ...endpoint('POST', `${KEY}/rotate`, 'Replace an API key'),
    ...writeKeys,
    params: keyParams,
    idempotent: true,
    body: keyRotation,
    bodyOptional: true,
    reply: { ...token, status: 200, assigned: TOKEN, resource: `${KEYS}/{api_key.id}` },
  },
  revokeApiKey: {
    ...endpoint('POST', `${KEY}/revoke`, 'Revoke an API key'),
    ...writeKeys,
    params: keyParams,
    reply: key,
  },
} as const satisfies Contracts;

export type AccountApi = Handlers<typeof accountContracts>;
