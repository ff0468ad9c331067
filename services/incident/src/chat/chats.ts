import type { Knex } from '@tocsin/postgres';
import { currentDryRun, openKeyring } from '@tocsin/runtime';
import { type Chat, ChatError } from './clients/chat.ts';
import { unchangedChat } from './clients/unchanged-chat.ts';
import { type ChatConnection, chatConnectionStore } from './store/chat-connection-store.ts';

/** A workspace's chat and its template for channel names. */
interface ConnectedChat {
  chat: Chat;
  template: string;
}

/** Opens the chats of workspaces. */
export interface Chats {
  /**
   * Reads the connection each time, so that a new or removed connection takes effect at once.
   * A dry run gets a chat that it cannot change.
   * @param signal cancels the calls to the chat
   * @throws ChatError `not_connected` if the secret key that encrypted the token is no longer configured
   */
  find(workspaceId: number, timeout: ChatTimeout, signal?: AbortSignal): Promise<ConnectedChat | undefined>;
  /**
   * Encrypts all tokens with the current key. Leaves tokens whose key is no longer configured.
   * @returns the workspaces of those tokens
   */
  rotateEncryption(): Promise<number[]>;
}

/** Selects the time limit of a chat's method: for a request that a client waits for, or for background work. */
export type ChatTimeout = 'request' | 'background';

/** Opens a chat with a connection's token. */
export type OpenChat = (token: string, timeout: ChatTimeout, signal?: AbortSignal) => Chat;

/** The keyring that encrypts stored tokens; each token is bound to its workspace. */
export const chatKeyring = (secretKeys: string) => openKeyring(secretKeys, 'chat-token');

export function chats(options: { database: Knex; secretKeys: string; open: OpenChat }): Chats {
  const { database, open } = options;
  const keyring = chatKeyring(options.secretKeys);
  const decryptToken = ({ token, workspaceId }: ChatConnection): string | undefined => {
    try {
      return keyring.open(token, String(workspaceId));
    } catch {
      return undefined;
    }
  };
  return {
    async find(workspaceId, timeout, signal) {
      const connection = await chatConnectionStore(database).find(workspaceId);
      if (connection === undefined) return undefined;
      const token = decryptToken(connection);
      if (token === undefined)
        throw new ChatError('not_connected', 'The key that encrypted the token is not configured');
      const chat = open(token, timeout, signal);
      return {
        chat: currentDryRun() === undefined ? chat : unchangedChat(chat),
        template: connection.channelTemplate,
      };
    },

    rotateEncryption: async () =>
      database.transaction(async (trx) => {
        const store = chatConnectionStore(trx);
        const undecryptable: number[] = [];
        for (const connection of await store.listEncryptedWithOtherKeys(keyring.currentKeyId)) {
          const { workspaceId } = connection;
          const token = decryptToken(connection);
          if (token === undefined) undecryptable.push(workspaceId);
          else await store.replaceToken(workspaceId, keyring.seal(token, String(workspaceId)));
        }
        return undecryptable;
      }),
  };
}
