import { invalidState, notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { checkReaches, manages } from '../domain/authority.ts';
import { type ApiKey, type KeyKind, keyStore } from '../store/key-store.ts';
import { type User, userStore } from '../store/user-store.ts';
import { type Workspace, workspaceStore } from '../store/workspace-store.ts';
import { type Actor, findActingUser } from './actor.ts';

/** A key that the transaction may change, with its owner and the acting user, if a user acts. */
export interface ManagedKey {
  workspace: Workspace;
  key: ApiKey;
  owner: User;
  acting: User | undefined;
}

/**
 * Locks the workspace and a key of it, or a session, for a change.
 * @throws DomainError `not_found`, also for the key of another user if the actor manages only their own;
 *   `permission_denied` if the owner's role is above the actor's
 */
export async function getManagedKey(
  trx: Knex.Transaction,
  { workspaceId, id, kind = 'key', actor }: { workspaceId: number; id: number; kind?: KeyKind; actor: Actor },
): Promise<ManagedKey> {
  const workspace = await workspaceStore(trx).lock(workspaceId);
  const acting = await findActingUser(trx, { workspaceId, actor });
  const key = await keyStore(trx).findForUpdate(id);
  const owner = key && (await userStore(trx).find(workspaceId, key.userId));
  const isVisible = owner !== undefined && (manages(acting) || owner.id === acting?.id);
  if (key?.kind !== kind || !isVisible) throw notFound(`The ${kind} ${id}`);
  checkReaches(acting, owner.role);
  return { workspace, key, owner, acting };
}

/** @throws DomainError `invalid_resource_state` for a key that has ended */
export function checkValid({ id, revokedAt, expiresAt }: ApiKey, now: Instant): void {
  if (revokedAt !== null) throw invalidState(`The key ${id} is revoked`);
  if (expiresAt !== null && expiresAt <= now) throw invalidState(`The key ${id} has expired`);
}
