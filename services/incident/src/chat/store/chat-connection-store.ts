import type { Knex } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';

/** A workspace's connection to its chat. */
export interface ChatConnection {
  workspaceId: number;
  token: Sealed;
  channelTemplate: string;
  /** Whether changes of incidents are posted into their channels. */
  postsUpdates: boolean;
}

const COLUMNS = {
  workspaceId: 'workspace_id',
  keyId: 'key_id',
  ciphertext: 'token_ciphertext',
  channelTemplate: 'channel_template',
  postsUpdates: 'posts_updates',
} as const;

type ConnectionRow = Omit<ChatConnection, 'token'> & Sealed;

const toConnection = ({ keyId, ciphertext, ...row }: ConnectionRow): ChatConnection => ({
  ...row,
  token: { keyId, ciphertext },
});

/** Stores the chat connections of workspaces, over a pool or a transaction. */
export function chatConnectionStore(db: Knex) {
  return {
    async find(workspaceId: number): Promise<ChatConnection | undefined> {
      const row = await db('chat_connections')
        .where({ workspace_id: workspaceId })
        .first<ConnectionRow | undefined>(COLUMNS);
      return row && toConnection(row);
    },

    /** Returns whether any workspace is connected. */
    async hasAny(): Promise<boolean> {
      return (await db('chat_connections').first('workspace_id')) !== undefined;
    },

    /** The connections of the workspaces with the highest IDs. */
    async listLatest(limit: number): Promise<ChatConnection[]> {
      const rows = await db('chat_connections')
        .orderBy('workspace_id', 'desc')
        .limit(limit)
        .select<ConnectionRow[]>(COLUMNS);
      return rows.map(toConnection);
    },

    /** Connects a workspace; replaces token and template of an existing connection. */
    async put(
      { workspaceId, token, channelTemplate }: Omit<ChatConnection, 'postsUpdates'>,
      now: Instant,
    ): Promise<void> {
      await db('chat_connections')
        .insert({
          workspace_id: workspaceId,
          key_id: token.keyId,
          token_ciphertext: token.ciphertext,
          channel_template: channelTemplate,
          updated_at: now,
        })
        .onConflict('workspace_id')
        .merge();
    },

    /** Returns whether there is a connection. */
    async setPostsUpdates(workspaceId: number, postsUpdates: boolean, now: Instant): Promise<boolean> {
      const change = { posts_updates: postsUpdates, updated_at: now };
      return (await db('chat_connections').where({ workspace_id: workspaceId }).update(change)) === 1;
    },

    /** Returns whether there was a connection. */
    async remove(workspaceId: number): Promise<boolean> {
      return (await db('chat_connections').where({ workspace_id: workspaceId }).delete()) === 1;
    },

    /** Lists and locks the connections whose token is encrypted with another key than this one; skips locked rows. */
    async listEncryptedWithOtherKeys(keyId: string): Promise<ChatConnection[]> {
      const rows = await db('chat_connections')
        // Two ranges of an index; an inequality would read the whole table.
        .where((others) => void others.where('key_id', '<', keyId).orWhere('key_id', '>', keyId))
        .forUpdate()
        .skipLocked()
        .select<ConnectionRow[]>(COLUMNS);
      return rows.map(toConnection);
    },

    async replaceToken(workspaceId: number, { keyId, ciphertext }: Sealed): Promise<void> {
      await db('chat_connections')
        .where({ workspace_id: workspaceId })
        .update({ key_id: keyId, token_ciphertext: ciphertext });
    },
  };
}
