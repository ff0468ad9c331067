import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';

/** Links that sign a user in, by the SHA-256 of their tokens, in hexadecimal. */
export const loginLinkStore = (db: Knex) => ({
  insert: async (link: { workspaceId: number; userId: number; digest: string; expiresAt: Instant }) => {
    const { workspaceId, userId, digest, expiresAt } = link;
    await query(db, {
      name: 'insert-login-link',
      text: 'insert into login_links (workspace_id, token_digest, user_id, expires_at) values ($1, $2, $3, $4)',
      values: [workspaceId, Buffer.from(digest, 'hex'), userId, expiresAt],
    });
  },

  /**
   * Deletes a link of the workspace with this slug, so that nobody uses it again. Returns the user's ID, and that of the
   * workspace, if it was valid.
   */
  use: async (
    slug: string,
    digest: string,
    now: Instant,
  ): Promise<{ userId: number; workspaceId: number } | undefined> => {
    const [link] = await query<{ userId: number; workspaceId: number }>(db, {
      name: 'use-login-link',
      text: `delete from login_links using workspaces
        where workspaces.slug = $1 and login_links.workspace_id = workspaces.id
          and token_digest = $2 and expires_at > $3
        returning user_id as "userId", workspace_id as "workspaceId"`,
      values: [slug, Buffer.from(digest, 'hex'), now],
    });
    return link;
  },

  deleteOf: async (workspaceId: number, userId: number): Promise<void> => {
    await query(db, {
      name: 'delete-login-links-of-user',
      text: 'delete from login_links where workspace_id = $1 and user_id = $2',
      values: [workspaceId, userId],
    });
  },

  deleteExpired: async (now: Instant): Promise<void> => {
    await query(db, { text: 'delete from login_links where expires_at <= $1', values: [now] });
  },
});
