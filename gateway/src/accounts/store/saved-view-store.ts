import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';

/** A search of incidents under a name, in the form of the client that stored it. */
interface SavedView {
  name: string;
  search: string;
}

/** All views of a user. */
export interface SavedViews {
  revision: number;
  views: readonly SavedView[];
}

/** Of a user who has never stored any. */
const NONE: SavedViews = { revision: 1, views: [] };

/** Locks the user's row until the commit: an erasure deletes the views, and no later write may bring them back. */
const ACTIVE_USER = 'select id from users where workspace_id = $1 and id = $2 and active for share';

export const savedViewStore = (db: Knex) => ({
  find: async (workspaceId: number, userId: number): Promise<SavedViews> => {
    const [row] = await query<SavedViews>(db, {
      name: 'find-saved-views',
      text: 'select revision, views from saved_views where workspace_id = $1 and user_id = $2',
      values: [workspaceId, userId],
    });
    return row ?? NONE;
  },

  /** Replaces the views of an active user who has those of `revision`. Returns the next one; undefined: it is another user, or revision. */
  replace: async (
    { workspaceId, userId }: { workspaceId: number; userId: number },
    { revision, views }: SavedViews,
    now: Instant,
  ): Promise<number | undefined> => {
    const isFirst = revision === NONE.revision;
    const [row] = await query<{ revision: number }>(db, {
      name: isFirst ? 'insert-saved-views' : 'replace-saved-views',
      text: `with active_user as (${ACTIVE_USER}) ${
        isFirst
          ? `insert into saved_views (workspace_id, user_id, revision, views, updated_at)
              select $1, id, $3::bigint + 1, $4::jsonb, $5::timestamptz from active_user
              on conflict (workspace_id, user_id) do nothing returning revision`
          : `update saved_views set revision = saved_views.revision + 1, views = $4::jsonb, updated_at = $5::timestamptz
              from active_user
              where workspace_id = $1 and user_id = active_user.id and saved_views.revision = $3::bigint
              returning saved_views.revision`
      }`,
      values: [workspaceId, userId, revision, JSON.stringify(views), now],
    });
    return row?.revision;
  },

  deleteOf: async (workspaceId: number, userId: number): Promise<void> => {
    await query(db, {
      name: 'delete-saved-views-of-user',
      text: 'delete from saved_views where workspace_id = $1 and user_id = $2',
      values: [workspaceId, userId],
    });
  },
});
