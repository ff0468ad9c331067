import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';

/** Links that sign a user in, by the SHA-256 of their tokens, in hexadecimal. */
export const loginLinkStore = (db: Knex) => ({
  insert: async ({ digest, userId, expiresAt }: { digest: string; userId: number; expiresAt: Instant }) => {
    await query(db, {
      name: 'insert-login-link',
      text: 'insert into login_links (token_digest, user_id, expires_at) values ($1, $2, $3)',
      values: [Buffer.from(digest, 'hex'), userId, expiresAt],
    });
  },

  /** Deletes a link, so that nobody uses it again. Returns the user's ID, and that of the workspace, if it was valid. */
  use: async (digest: string, now: Instant): Promise<{ userId: number; workspaceId: number } | undefined> => {
    const [link] = await query<{ userId: number; workspaceId: number }>(db, {
      name: 'use-login-link',
      text: `delete from login_links using users
        where token_digest = $1 and expires_at > $2 and users.id = login_links.user_id
        returning users.id as "userId", users.workspace_id as "workspaceId"`,
      values: [Buffer.from(digest, 'hex'), now],
    });
    return link;
  },

  deleteOf: async (userId: number): Promise<void> => {
    await query(db, {
      name: 'delete-login-links-of-user',
      text: 'delete from login_links where user_id = $1',
      values: [userId],
    });
  },

  deleteExpired: async (now: Instant): Promise<void> => {
    await query(db, { text: 'delete from login_links where expires_at <= $1', values: [now] });
  },
});
