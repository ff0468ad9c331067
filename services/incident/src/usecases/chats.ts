import { type Knex, openKeyring } from '@tocsin/runtime';
import type { Chat } from '../clients/chat.ts';
import { chatConnectionStore } from '../store/chat-connection-store.ts';

/** A workspace's chat, and the template of its channels' names. */
export interface ConnectedChat {
  chat: Chat;
  template: string;
}

/** Where the chats of workspaces are reached. */
export interface Chats {
  /** Read anew each time: a connection that was just made or cut counts at once. */
  find(workspaceId: number): Promise<ConnectedChat | undefined>;
  /** Seals tokens that an older key sealed with the current one; answers whether there may be more. */
  reseal(): Promise<boolean>;
}

/** Opens a chat with a connection's token. */
export type OpenChat = (token: string) => Chat;

const BATCH = 100;

/** The keyring that seals tokens at rest; each opens only for its workspace. */
export const chatKeyring = (secretKeys: string) => openKeyring(secretKeys, 'chat-token');

export function chats(options: { database: Knex; secretKeys: string; open: OpenChat }): Chats {
  const { database, open } = options;
  const keyring = chatKeyring(options.secretKeys);
  return {
    async find(workspaceId) {
      const connection = await chatConnectionStore(database).find(workspaceId);
      if (connection === undefined) return undefined;
      const token = keyring.open(connection.token, String(workspaceId));
      return { chat: open(token), template: connection.channelTemplate };
    },

    reseal: async () =>
      database.transaction(async (trx) => {
        const store = chatConnectionStore(trx);
        const connections = await store.sealedByOthers(keyring.currentKeyId, BATCH);
        for (const { workspaceId, token } of connections) {
          const context = String(workspaceId);
          await store.reseal(workspaceId, keyring.seal(keyring.open(token, context), context));
        }
        return connections.length >= BATCH;
      }),
  };
}
