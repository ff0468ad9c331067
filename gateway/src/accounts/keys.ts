import { quotaOf } from '@tocsin/schemas';
import { checkRevision, invalidRequest, invalidState, notFound, quotaExceeded } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import {
  checkManages,
  checkReaches,
  checkScopesWithin,
  checkWithin,
  isWithin,
  manages,
} from '../identity/domain/authority.ts';
import { digestOf, generateToken, shownPart } from '../identity/domain/token.ts';
import { announceIdentityChange } from '../identity/store/identity-changes.ts';
import { checkExpiry, checkName, checkOverlap, checkScopes } from './domain/checks.ts';
import { type ApiKey, type KeyChanges, keyStore, type NewKeyRow, sessionStore } from './store/key-store.ts';
import { type User, userStore } from './store/user-store.ts';
import { type Workspace, workspaceStore } from './store/workspace-store.ts';
import { type CommandContext, findActingUser } from './actor.ts';
import { findGrant } from './grants.ts';
import { recordEndedSessions, recordKeyChange } from './record-change.ts';

export interface NewKey {
  workspaceId: number;
  /** The owner. */
  userId: number;
  name: string;
  scopes: readonly string[];
  /** RFC 3339; null: never; without it as late as the actor may let a key expire. */
  expires?: string | null | undefined;
}

/** A key with its token, which is returned only when it is made. */
export interface KeyWithToken {
  key: ApiKey;
  token: string;
}

/**
 * Creates a key (contract: API keys).
 * @throws DomainError `missing_scope` for a scope that the acting key lacks; `missing_role_permission` or
 *   `permission_denied` for another owner; `invalid_request`, also for a later expiry than the actor may give;
 *   `invalid_resource_state` for the quota
 */
export async function createKey(trx: Knex.Transaction, input: NewKey, context: CommandContext): Promise<KeyWithToken> {
  const { workspaceId, userId } = input;
  const { actor, now } = context;
  const name = checkName(input.name);
  const scopes = checkScopes(input.scopes);
  const expires = typeof input.expires === 'string' ? checkExpiry(input.expires, now) : input.expires;
  const workspace = await workspaceStore(trx).lock(workspaceId);
  const acting = await findActingUser(trx, { workspaceId, actor });
  if (acting?.id !== userId) checkManages(acting);
  const owner = await userStore(trx).find(workspaceId, userId);
  if (owner?.active !== true) throw invalidRequest('user_id', 'Must be an active user');
  checkReaches(acting, owner.role, 'user_id');
  const { scopes: allowed, expiresAt: latest } = await findGrant(trx, { context, acting, owner });
  checkScopesWithin(allowed, scopes, 'scopes');
  const expiresAt = expires === undefined ? latest : expires;
  if (!isWithin(expiresAt, latest)) {
    throw invalidRequest('expires_at', `Must be at most ${latest}, the latest expiry that your token may give a key`);
  }
  await checkKeyQuota(trx, workspace, now);
  const keyWithToken = await insertKey(trx, { workspaceId, userId, name, scopes, expiresAt, createdAt: now });
  await recordKeyChange(trx, context, { workspace, verb: 'created', before: null, after: keyWithToken.key });
  return keyWithToken;
}

/** Stores a key, or a session, with a new token. */
export async function insertKey(trx: Knex.Transaction, values: NewKeyRow): Promise<KeyWithToken> {
  const token = generateToken(values.kind);
  const key = await keyStore(trx).insert({ ...values, shown: shownPart(token), digest: digestOf(token) });
  return { key, token };
}

export interface KeyChange {
  workspaceId: number;
  id: number;
  expectedRevision: number;
  name?: string | undefined;
  /** Some of those that it has. */
  scopes?: readonly string[] | undefined;
}

/**
 * Changes the name of a valid key, or takes scopes from it (contract: API keys).
 * @throws DomainError as `lockKey`; `invalid_resource_state`, `precondition_failed`; `missing_scope` or
 *   `invalid_request` for a scope that the key does not have
 */
export async function setKey(trx: Knex.Transaction, input: KeyChange, context: CommandContext): Promise<ApiKey> {
  const { now } = context;
  const name = input.name === undefined ? undefined : checkName(input.name);
  const scopes = input.scopes === undefined ? undefined : checkScopes(input.scopes);
  const locked = await lockKey(trx, input, context);
  const { key } = locked;
  checkValid(key, now);
  checkRevision(key.revision, input.expectedRevision);
  const added = scopes?.filter((scope) => !key.scopes.includes(scope)) ?? [];
  if (added.length > 0) {
    checkScopesWithin((await findGrant(trx, { ...locked, context })).scopes, added, 'scopes');
    throw invalidRequest('scopes', `Must not have scopes that the key lacks: ${added.join(', ')}`);
  }
  const hasFewer = scopes !== undefined && scopes.length < key.scopes.length;
  const changes = { ...(name !== undefined && name !== key.name && { name }), ...(hasFewer && { scopes }) };
  if (Object.keys(changes).length === 0) return key;
  const changed = await changeKey(trx, context, { ...locked, verb: 'updated', changes });
  if (hasFewer) await announceIdentityChange(trx);
  return changed;
}

export interface KeyRotation {
  workspaceId: number;
  id: number;
  /** How long the old token stays valid; milliseconds, 0: it is revoked at once. */
  overlap: number;
  /** When the new key expires, in RFC 3339; without it, when the old one would have. */
  expires?: string | undefined;
}

/**
 * Creates a key with the owner, name and scopes of another one, which ends after the overlap (contract: API keys).
 * @throws DomainError as `lockKey`, and as `checkWithin` for a key that allows more than the acting key;
 *   `invalid_resource_state` for a key that has ended or was replaced before, and for the quota
 */
export async function rotateKey(
  trx: Knex.Transaction,
  input: KeyRotation,
  context: CommandContext,
): Promise<KeyWithToken & { replaced: ApiKey }> {
  const { now } = context;
  checkOverlap(input.overlap);
  const expires = input.expires === undefined ? undefined : checkExpiry(input.expires, now);
  const locked = await lockKey(trx, input, context);
  const { workspace, key: old, owner } = locked;
  const { workspaceId, userId, name, scopes } = old;
  const expiresAt = expires ?? old.expiresAt;
  checkWithin(await findGrant(trx, { ...locked, context }), { scopes, expiresAt });
  if (old.replacedBy !== null) throw invalidState(`The key ${old.id} was replaced by the key ${old.replacedBy}`);
  checkValid(old, now);
  if (!owner.active) throw invalidState(`The user ${owner.email} is deactivated`);
  if (input.overlap > 0) await checkKeyQuota(trx, workspace, now);

  const firstKeyId = old.firstKeyId ?? old.id;
  const keyWithToken = await insertKey(trx, {
    ...{ workspaceId, userId, name, scopes, expiresAt, firstKeyId },
    createdAt: now,
  });
  const end = addMilliseconds(now, input.overlap);
  const changes = {
    replacedBy: keyWithToken.key.id,
    expiresAt: input.overlap === 0 || (old.expiresAt !== null && old.expiresAt < end) ? old.expiresAt : end,
    revokedAt: input.overlap === 0 ? now : null,
  };
  const replaced = await changeKey(trx, context, { ...locked, verb: 'rotated', changes });
  await recordKeyChange(trx, context, { workspace, verb: 'created', before: null, after: keyWithToken.key });
  await announceIdentityChange(trx);
  return { ...keyWithToken, replaced };
}

/**
 * Revokes a key, or a session or agent, for good; every gateway refuses its token within a second (contract: API keys). Safe to repeat.
 * @throws DomainError as `lockKey`
 */
export async function revokeKey(
  trx: Knex.Transaction,
  input: { workspaceId: number; id: number; kind?: 'key' | 'session' },
  context: CommandContext,
): Promise<ApiKey> {
  const locked = await lockKey(trx, input, context);
  if (locked.key.revokedAt !== null) return locked.key;
  const revoked = await changeKey(trx, context, { ...locked, verb: 'revoked', changes: { revokedAt: context.now } });
  await announceIdentityChange(trx);
  return revoked;
}

/** A key that the transaction may change, with its owner and the acting user, if a user acts. */
interface LockedKey {
  workspace: Workspace;
  key: ApiKey;
  owner: User;
  acting: User | undefined;
}

/**
 * Locks the workspace and a key of it, or a session or agent, for a change.
 * @throws DomainError `not_found`, also for the key of another user if the actor manages only their own;
 *   `permission_denied` if the owner's role is above the actor's
 */
async function lockKey(
  trx: Knex.Transaction,
  { workspaceId, id, kind = 'key' }: { workspaceId: number; id: number; kind?: 'key' | 'session' },
  { actor }: CommandContext,
): Promise<LockedKey> {
  const workspace = await workspaceStore(trx).lock(workspaceId);
  const acting = await findActingUser(trx, { workspaceId, actor });
  const key = await keyStore(trx).findForUpdate(workspaceId, id);
  const owner = key && (await userStore(trx).find(workspaceId, key.userId));
  const isVisible = owner !== undefined && (manages(acting) || owner.id === acting?.id);
  const isOfKind = (key?.kind === 'key') === (kind === 'key');
  if (key === undefined || !isOfKind || !isVisible) throw notFound(`The ${kind} ${id}`);
  checkReaches(acting, owner.role);
  return { workspace, key, owner, acting };
}

/** Changes a locked key, and records it in the audit log. A key that may do less ends the sessions that it began. */
async function changeKey(
  trx: Knex.Transaction,
  context: CommandContext,
  { workspace, key: before, verb, changes }: LockedKey & { verb: string; changes: KeyChanges },
): Promise<ApiKey> {
  const after = await keyStore(trx).change(before, changes);
  await recordKeyChange(trx, context, { workspace, verb, before, after });
  if (changes.scopes !== undefined || changes.replacedBy !== undefined || changes.revokedAt !== undefined) {
    const ended = await sessionStore(trx).revokeSessionsBegunBy(before, context.now);
    await recordEndedSessions(trx, context, workspace, ended);
  }
  return after;
}

/** @throws DomainError `invalid_resource_state` for a key that has ended */
function checkValid({ id, revokedAt, expiresAt }: ApiKey, now: Instant): void {
  if (revokedAt !== null) throw invalidState(`The key ${id} is revoked`);
  if (expiresAt !== null && expiresAt <= now) throw invalidState(`The key ${id} has expired`);
}

/** Checks that a workspace whose row is locked may have another key. @throws DomainError `invalid_resource_state` */
async function checkKeyQuota(trx: Knex.Transaction, workspace: Workspace, now: Instant): Promise<void> {
  const quota = quotaOf(workspace, 'api_keys');
  if (quota === null || (await keyStore(trx).countValid(workspace.id, now)) < quota) return;
  throw quotaExceeded('api_keys', `at most ${quota} valid API keys`);
}
