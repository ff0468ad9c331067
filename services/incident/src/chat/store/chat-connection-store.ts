import { type Knex, query } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';

/** A workspace's connection to its chat. */
export interface ChatConnection {
  workspaceId: number;
  token: Sealed;
  channelTemplate: string;
  /** Whether changes of incidents are posted into their channels. */
  postsUpdates: boolean;
}

const SELECT = `select workspace_id as "workspaceId", key_id as "keyId", token_ciphertext as ciphertext,
    channel_template as "channelTemplate", posts_updates as "postsUpdates"
  from chat_connections`;

type ConnectionRow = Omit<ChatConnection, 'token'> & Sealed;

const toConnection = ({ keyId, ciphertext, ...row }: ConnectionRow): ChatConnection => ({
  ...row,
  token: { keyId, ciphertext },
});

/** Stores the chat connections of workspaces, over a pool or a transaction. */
export function chatConnectionStore(db: Knex) {
  return {
    async find(workspaceId: number): Promise<ChatConnection | undefined> {
      const [row] = await query<ConnectionRow>(db, {
        name: 'find-chat-connection',
        text: `${SELECT} where workspace_id = $1`,
        values: [workspaceId],
      });
      return row && toConnection(row);
    },

    /** Returns whether any workspace is connected. */
    async hasAny(): Promise<boolean> {
      return (await query(db, { text: 'select workspace_id from chat_connections limit 1' })).length > 0;
    },

    /** The connections of the workspaces with the highest IDs. */
    async listLatest(limit: number): Promise<ChatConnection[]> {
      const text = `${SELECT} order by workspace_id desc limit $1`;
      const rows = await query<ConnectionRow>(db, { text, values: [limit] });
      return rows.map(toConnection);
    },

    /** Connects a workspace; replaces token and template of an existing connection. */
    async put(
      { workspaceId, token, channelTemplate }: Omit<ChatConnection, 'postsUpdates'>,
      now: Instant,
    ): Promise<void> {
      await query(db, {
        text: `insert into chat_connections (workspace_id, key_id, token_ciphertext, channel_template, updated_at)
          values ($1, $2, $3, $4, $5)
          on conflict (workspace_id) do update set key_id = excluded.key_id,
            token_ciphertext = excluded.token_ciphertext, channel_template = excluded.channel_template,
            updated_at = excluded.updated_at`,
        values: [workspaceId, token.keyId, token.ciphertext, channelTemplate, now],
      });
    },

    /** Returns whether there is a connection. */
    async setPostsUpdates(workspaceId: number, postsUpdates: boolean, now: Instant): Promise<boolean> {
      const updated = await query(db, {
        text: `update chat_connections set posts_updates = $2, updated_at = $3 where workspace_id = $1
          returning workspace_id`,
        values: [workspaceId, postsUpdates, now],
      });
      return updated.length === 1;
    },

    /** Returns whether there was a connection. */
    async remove(workspaceId: number): Promise<boolean> {
      const text = 'delete from chat_connections where workspace_id = $1 returning workspace_id';
      return (await query(db, { text, values: [workspaceId] })).length === 1;
    },

    /** Lists and locks the connections whose token is encrypted with another key than this one; skips locked rows. */
    async listEncryptedWithOtherKeys(keyId: string): Promise<ChatConnection[]> {
      // Two ranges of an index; an inequality would read the whole table.
      const text = `${SELECT} where key_id < $1 or key_id > $1 for update skip locked`;
      const rows = await query<ConnectionRow>(db, { text, values: [keyId] });
      return rows.map(toConnection);
    },

    async replaceToken(workspaceId: number, { keyId, ciphertext }: Sealed): Promise<void> {
      await query(db, {
        text: 'update chat_connections set key_id = $2, token_ciphertext = $3 where workspace_id = $1',
        values: [workspaceId, keyId, ciphertext],
      });
    },
  };
}
