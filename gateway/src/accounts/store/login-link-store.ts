import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';

/** Links that sign a user in, by the SHA-256 of their tokens, in hexadecimal. */
export const loginLinkStore = (db: Knex) => ({
  insert: async ({ digest, userId, expiresAt }: { digest: string; userId: number; expiresAt: Instant }) => {
    await db('login_links').insert({
      token_digest: Buffer.from(digest, 'hex'),
      user_id: userId,
      expires_at: expiresAt,
    });
  },

  /** Deletes a link, so that nobody uses it again. Returns the user's ID, and that of the workspace, if it was valid. */
  use: async (digest: string, now: Instant): Promise<{ userId: number; workspaceId: number } | undefined> => {
    const [link] = await db('login_links')
      .where({ token_digest: Buffer.from(digest, 'hex') })
      .where('expires_at', '>', now)
      .delete()
      .returning<{ user_id: number }[]>('user_id');
    if (link === undefined) return undefined;
    const user = await db('users').where({ id: link.user_id }).first<{ workspace_id: number }>('workspace_id');
    return { userId: link.user_id, workspaceId: user.workspace_id };
  },

  deleteOf: async (userId: number): Promise<void> => {
    await db('login_links').where({ user_id: userId }).delete();
  },

  deleteExpired: async (now: Instant): Promise<void> => {
    await db('login_links').where('expires_at', '<=', now).delete();
  },
});
