import type { Instant, Knex, Sealed } from '@tocsin/runtime';

/** How a workspace's incidents reach its chat. */
export interface ChatConnection {
  workspaceId: number;
  token: Sealed;
  channelTemplate: string;
}

interface ConnectionRow {
  workspace_id: number;
  key_id: string;
  token_box: Buffer;
  channel_template: string;
}

const COLUMNS = ['workspace_id', 'key_id', 'token_box', 'channel_template'] as const;

const toConnection = (row: ConnectionRow): ChatConnection => ({
  workspaceId: row.workspace_id,
  token: { keyId: row.key_id, box: row.token_box },
  channelTemplate: row.channel_template,
});

/** The connections of workspaces to their chats, over a pool or a transaction. */
export function chatConnectionStore(db: Knex) {
  return {
    async find(workspaceId: number): Promise<ChatConnection | undefined> {
      const row = await db('chat_connections')
        .where({ workspace_id: workspaceId })
        .first<ConnectionRow | undefined>(...COLUMNS);
      return row && toConnection(row);
    },

    /** Connects a workspace, in place of what it was connected with before. */
    async put({ workspaceId, token, channelTemplate }: ChatConnection, now: Instant): Promise<void> {
      await db('chat_connections')
        .insert({
          workspace_id: workspaceId,
          key_id: token.keyId,
          token_box: token.box,
          channel_template: channelTemplate,
          updated_at: now,
        })
        .onConflict('workspace_id')
        .merge();
    },

    /** Answers whether there was a connection. */
    async remove(workspaceId: number): Promise<boolean> {
      return (await db('chat_connections').where({ workspace_id: workspaceId }).delete()) === 1;
    },

    /** Those whose token another key than this one sealed, locked until the transaction ends. */
    async sealedByOthers(keyId: string): Promise<ChatConnection[]> {
      const rows = await db('chat_connections')
        .whereNot({ key_id: keyId })
        .forUpdate()
        .skipLocked()
        .select<ConnectionRow[]>(...COLUMNS);
      return rows.map(toConnection);
    },

    async reseal(workspaceId: number, { keyId, box }: Sealed): Promise<void> {
      await db('chat_connections').where({ workspace_id: workspaceId }).update({ key_id: keyId, token_box: box });
    },
  };
}
