import { type Knex, query } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import type { SealedPage } from '@tocsin/service-host';

/** A workspace's connection to its chat. */
export interface ChatConnection {
  workspaceId: number;
  token: Sealed;
  channelTemplate: string;
  /** Whether changes of incidents are posted into their channels. */
  postsUpdates: boolean;
  /** The token for commands, sealed with the same key as the other; null: none. */
  appToken: Buffer | null;
}

const SELECT = `select workspace_id as "workspaceId", key_id as "keyId", token_ciphertext as ciphertext,
    channel_template as "channelTemplate", posts_updates as "postsUpdates",
    app_token_ciphertext as "appToken"
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

    /** Connects a workspace; replaces the tokens and the template of an existing connection, and ends its socket. */
    async put(
      { workspaceId, token, channelTemplate, appToken }: Omit<ChatConnection, 'postsUpdates'>,
      now: Instant,
    ): Promise<void> {
      await query(db, {
        text: `insert into chat_connections (workspace_id, key_id, token_ciphertext, channel_template, updated_at, app_token_ciphertext)
          values ($1, $2, $3, $4, $5, $6)
          on conflict (workspace_id) do update set key_id = excluded.key_id,
            token_ciphertext = excluded.token_ciphertext, channel_template = excluded.channel_template,
            updated_at = excluded.updated_at, app_token_ciphertext = excluded.app_token_ciphertext,
            socket_holder = null, socket_until = null`,
        values: [workspaceId, token.keyId, token.ciphertext, channelTemplate, now, appToken],
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

    /** Lists and locks connections behind a workspace whose token another key than this one has encrypted; skips locked rows. */
    async listEncryptedWithOtherKeys(keyId: string, { after, limit }: SealedPage): Promise<ChatConnection[]> {
      // Two ranges of an index; an inequality would read the whole table.
      const text = `${SELECT} where (key_id < $1 or key_id > $1) and workspace_id > $2
        order by workspace_id limit $3 for update skip locked`;
      const rows = await query<ConnectionRow>(db, { text, values: [keyId, after, limit] });
      return rows.map(toConnection);
    },

    /** Replaces both tokens by the same, sealed with another key. */
    async replaceTokens(
      workspaceId: number,
      { token: { keyId, ciphertext }, appToken }: Pick<ChatConnection, 'token' | 'appToken'>,
    ): Promise<void> {
      await query(db, {
        text: `update chat_connections set key_id = $2, token_ciphertext = $3, app_token_ciphertext = $4
          where workspace_id = $1`,
        values: [workspaceId, keyId, ciphertext, appToken],
      });
    },
  };
}
