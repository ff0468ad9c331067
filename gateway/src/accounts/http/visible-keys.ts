import type { Principal } from '@tocsin/schemas';
import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT, notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { type ApiKey, keyLists, keyStore } from '../store/key-store.ts';

/** Whose keys a user sees: their own, or, as undefined, all of the workspace. */
const visibleOwner = ({ permissions, user_id: userId }: Principal): number | undefined =>
  permissions.includes('manage_settings') ? undefined : userId;

/** @throws DomainError `not_found`, also for a key that the user does not see */
export async function getVisibleKey(database: Knex, principal: Principal, id: number): Promise<ApiKey> {
  const key = await keyStore(database).find(principal.workspace.id, id);
  const owner = visibleOwner(principal);
  const isVisible = key?.kind === 'key' && (owner === undefined || key.userId === owner);
  if (key === undefined || !isVisible) throw notFound(`The key ${id}`);
  return key;
}

interface ListRequest {
  principal: Principal;
  query: { limit?: number | undefined; cursor?: string | undefined };
}

/**
 * Reads pages of the keys that the caller may see, by the addresses of their owners.
 * @param options.path of the list, to which its cursors belong
 */
export function keyPages({ database, cursors, path }: { database: Knex; cursors: Cursors; path: string }) {
  const positions = cursorsOf(cursors, { name: 'owner', keys: ['text', 'integer'] });
  /** @param options.sessionsAt sessions that have not ended then, instead of all keys */
  return async <View>(
    { principal, query: { limit = DEFAULT_LIMIT, cursor } }: ListRequest,
    { view, sessionsAt }: { view: (key: ApiKey) => View; sessionsAt?: Instant },
  ) => {
    const workspaceId = principal.workspace.id;
    const userId = visibleOwner(principal);
    const scope = { workspaceId, path, filters: { userId } };
    const after = cursor === undefined ? undefined : positions.decode(cursor, scope);
    return buildPage({
      listed: await keyLists(database).page({
        ...{ workspaceId, userId, ...(sessionsAt !== undefined && { sessionsAt }) },
        after: after && { sortKey: after[0], id: after[1] },
        limit: limit + 1,
      }),
      limit,
      view,
      nextCursor: ({ sortKey, id }) => positions.encode([sortKey, id], scope),
    });
  };
}
