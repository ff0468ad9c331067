import { type Knex, openKeyring } from '@tocsin/runtime';
import { type Chat, ChatError } from '../clients/chat.ts';
import { type ChatConnection, chatConnectionStore } from '../store/chat-connection-store.ts';

/** A workspace's chat, and the template of its channels' names. */
export interface ConnectedChat {
  chat: Chat;
  template: string;
}

/** Where the chats of workspaces are reached. */
export interface Chats {
  /**
   * Read anew each time: a connection that was just made or cut counts at once.
   * @throws ChatError `not_connected` for a token that was sealed with a secret key that is gone
   */
  find(workspaceId: number, patience: Patience): Promise<ConnectedChat | undefined>;
  /** Seals tokens that an older key sealed with the current one. One whose key is gone stays as it is. */
  reseal(): Promise<void>;
}

/** For how long a chat is asked, all calls of one question together: while a client waits, or while nobody does. */
export type Patience = 'while-a-client-waits' | 'in-the-background';

/** Opens a chat with a connection's token. */
export type OpenChat = (token: string, patience: Patience) => Chat;

/** The keyring that seals tokens at rest; each opens only for its workspace. */
export const chatKeyring = (secretKeys: string) => openKeyring(secretKeys, 'chat-token');

export function chats(options: { database: Knex; secretKeys: string; open: OpenChat }): Chats {
  const { database, open } = options;
  const keyring = chatKeyring(options.secretKeys);
  const openable = ({ token, workspaceId }: ChatConnection): string | undefined => {
    try {
      return keyring.open(token, String(workspaceId));
    } catch {
      return undefined;
    }
  };
  return {
    async find(workspaceId, patience) {
      const connection = await chatConnectionStore(database).find(workspaceId);
      if (connection === undefined) return undefined;
      const token = openable(connection);
      if (token === undefined) throw new ChatError('not_connected', 'The key that sealed the token is gone');
      return { chat: open(token, patience), template: connection.channelTemplate };
    },

    reseal: async () =>
      database.transaction(async (trx) => {
        const store = chatConnectionStore(trx);
        for (const connection of await store.sealedByOthers(keyring.currentKeyId)) {
          const { workspaceId } = connection;
          const token = openable(connection);
          if (token !== undefined) await store.reseal(workspaceId, keyring.seal(token, String(workspaceId)));
        }
      }),
  };
}
