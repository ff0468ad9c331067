import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { checkManages } from '../identity/domain/authority.ts';
import type { OidcAccount } from './store/oidc-identity-store.ts';
import { keyStore } from './store/key-store.ts';
import { type User, userStore } from './store/user-store.ts';

/** Who changes something: an operator, with the admin command, or a user of the workspace, with an API key or a session. */
export type Actor =
  | { readonly type: 'operator' }
  | { readonly type: 'user'; readonly userId: number; readonly keyId: number; readonly scopes: readonly string[] };

/** What a command needs besides its input. */
export interface CommandContext {
  actor: Actor;
  /** The request that it comes from, if there is one. */
  requestId: string | null;
  /** The sign-in that it comes from, by the rules of an operator for the provider. */
  oidc?: OidcAccount;
  now: Instant;
}

/**
 * Returns the acting user as it is now, or undefined for an operator. The transaction has locked the workspace's row, so
 * the user's role stays what it is.
 * @throws DomainError `permission_denied` for a user who was deactivated, or a key that was revoked or lost a scope, in the
 *   meantime
 */
export async function findActingUser(
  trx: Knex.Transaction,
  { workspaceId, actor }: { workspaceId: number; actor: Actor },
): Promise<User | undefined> {
  if (actor.type === 'operator') return undefined;
  const user = await userStore(trx).find(workspaceId, actor.userId);
  if (user?.active !== true) throw new DomainError('permission_denied', "The token's owner is deactivated");
  const key = await keyStore(trx).find(workspaceId, actor.keyId);
  const isSame =
    key?.revokedAt === null && actor.scopes.every((scope) => key.scopes.some((keyScope) => keyScope === scope));
  if (!isSame) throw new DomainError('permission_denied', 'The key of the request has been revoked or lost a scope');
  return user;
}

/** The same for a command that needs `manage_settings`. @throws DomainError `missing_role_permission`, too */
export async function findManager(
  trx: Knex.Transaction,
  options: { workspaceId: number; actor: Actor },
): Promise<User | undefined> {
  const user = await findActingUser(trx, options);
  checkManages(user);
  return user;
}
