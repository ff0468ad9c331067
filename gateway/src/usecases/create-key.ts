import { invalidRequest } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { checkManages, checkReaches, checkScopesWithin } from '../domain/authority.ts';
import { checkExpiry, checkName, checkScopes } from '../domain/checks.ts';
import { digestOf, generateToken, shownPart } from '../domain/token.ts';
import { type ApiKey, keyStore } from '../store/key-store.ts';
import { userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { type CommandContext, findActingUser } from './actor.ts';
import { checkKeyQuota } from './quotas.ts';
import { recordKeyChange } from './record-change.ts';

export interface NewKey {
  workspaceId: number;
  /** The owner. */
  userId: number;
  name: string;
  scopes: readonly string[];
  /** RFC 3339; without it the key does not expire. */
  expires?: string | undefined;
}

/** A key with its token, which is returned only when it is made. */
export interface KeyWithToken {
  key: ApiKey;
  token: string;
}

/**
 * Creates a key (contract: API keys).
 * @throws DomainError `missing_scope` for a scope that the acting key lacks; `missing_role_permission` or
 *   `permission_denied` for another owner; `invalid_request`; `invalid_resource_state` for the quota
 */
export async function createKey(trx: Knex.Transaction, input: NewKey, context: CommandContext): Promise<KeyWithToken> {
  const { workspaceId, userId } = input;
  const { actor, now } = context;
  const name = checkName(input.name);
  const scopes = checkScopes(input.scopes);
  const expiresAt = input.expires === undefined ? null : checkExpiry(input.expires, now);
  const workspace = await workspaceStore(trx).lock(workspaceId);
  const acting = await findActingUser(trx, { workspaceId, actor });
  if (actor.type === 'user') checkScopesWithin(actor.scopes, scopes, 'scopes');
  if (acting?.id !== userId) checkManages(acting);
  const owner = await userStore(trx).find(workspaceId, userId);
  if (owner?.active !== true) throw invalidRequest('user_id', 'Must be an active user');
  checkReaches(acting, owner.role, 'user_id');
  await checkKeyQuota(trx, { workspace, now });
  const token = generateToken();
  const key = await keyStore(trx).insert({
    userId,
    name,
    scopes,
    expiresAt,
    createdAt: now,
    shown: shownPart(token),
    digest: digestOf(token),
  });
  await recordKeyChange(trx, context, { workspace, verb: 'created', before: null, after: key });
  return { key, token };
}
