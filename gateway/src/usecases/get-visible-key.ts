import type { Principal } from '@tocsin/contracts';
import { notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { type ApiKey, keyStore } from '../store/key-store.ts';

/** Whose keys a user sees: their own, or, as undefined, all of the workspace. */
export const visibleOwner = ({ permissions, user_id: userId }: Principal): number | undefined =>
  permissions.includes('manage_settings') ? undefined : userId;

/** @throws DomainError `not_found`, also for a key that the user does not see */
export async function getVisibleKey(database: Knex, principal: Principal, id: number): Promise<ApiKey> {
  const key = await keyStore(database).find(id);
  const owner = visibleOwner(principal);
  const isVisible =
    key?.kind === 'key' && key.workspaceId === principal.workspace.id && (owner === undefined || key.userId === owner);
  if (key === undefined || !isVisible) throw notFound(`The key ${id}`);
  return key;
}
