import type { Knex } from '@tocsin/postgres';
import { currentDryRun, openKeyring } from '@tocsin/runtime';
import { sealAgain, type SealingDependencies } from '@tocsin/service-host';
import { DomainError, type ErrorCode, serviceUnavailable } from '@tocsin/http';
import { type Chat, ChatError, type ChatFailureReason } from './clients/chat.ts';
import { type ChatConnection, chatConnectionStore } from './store/chat-connection-store.ts';
import type { StepFailure } from './domain/provisioning.ts';

/** A workspace's chat and its settings. */
interface ConnectedChat {
  chat: Chat;
  template: string;
  /** Whether changes of incidents are posted into their channels. */
  postsUpdates: boolean;
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
   * Returns the token for commands; undefined: the workspace has none.
   * @throws ChatError `not_connected` if the secret key that encrypted it is no longer configured
   */
  findAppToken(workspaceId: number): Promise<string | undefined>;
}

/** Selects the time limit of a chat's method: for a request that a client waits for, or for background work. */
export type ChatTimeout = 'request' | 'background';

/** Opens a chat with a connection's token. */
type OpenChat = (token: string, timeout: ChatTimeout, signal?: AbortSignal) => Chat;

/** What opens and seals the tokens of connections; each token is bound to its workspace, and to what it is for. */
export function chatTokens(secretKeys: string) {
  const keyring = openKeyring(secretKeys, 'chat-token');
  const appContext = (workspaceId: number) => `${workspaceId}/app`;
  return {
    currentKeyId: keyring.currentKeyId,
    /** Both with the current key. */
    seal: (workspaceId: number, { bot, app }: ChatTokens): Pick<ChatConnection, 'token' | 'appToken'> => ({
      token: keyring.seal(bot, String(workspaceId)),
      appToken: app === undefined ? null : keyring.seal(app, appContext(workspaceId)).ciphertext,
    }),
    /** @returns undefined if no configured key opens them */
    open: ({ workspaceId, token, appToken }: ChatConnection): ChatTokens | undefined => {
      try {
        const { keyId } = token;
        const app =
          appToken === null ? undefined : keyring.open({ keyId, ciphertext: appToken }, appContext(workspaceId));
        return { bot: keyring.open(token, String(workspaceId)), app };
      } catch {
        return undefined;
      }
    },
  };
}

interface ChatTokens {
  /** For calls of the chat's methods. */
  bot: string;
  /** For the socket of commands; undefined: there are none. */
  app: string | undefined;
}

export function chats(options: { database: Knex; secretKeys: string; open: OpenChat }): Chats {
  const { database, open } = options;
  const sealing = chatTokens(options.secretKeys);
  const findOpened = async (workspaceId: number) => {
    const connection = await chatConnectionStore(database).find(workspaceId);
    if (connection === undefined) return undefined;
    const tokens = sealing.open(connection);
    if (tokens === undefined)
      throw new ChatError('not_connected', 'The key that encrypted the token is not configured');
    return { ...connection, tokens };
  };
  return {
    async find(workspaceId, timeout, signal) {
      const connection = await findOpened(workspaceId);
      if (connection === undefined) return undefined;
      const chat = open(connection.tokens.bot, timeout, signal);
      return {
        chat: currentDryRun() === undefined ? chat : unchangedChat(chat),
        template: connection.channelTemplate,
        postsUpdates: connection.postsUpdates,
      };
    },

    findAppToken: async (workspaceId) => (await findOpened(workspaceId))?.tokens.app,
  };
}

/** The API's error code for each failure reason of a chat. */
const ERROR_CODES: Record<ChatFailureReason, ErrorCode> = {
  not_connected: 'slack_not_configured',
  channel_missing: 'slack_channel_not_found',
  name_taken: 'slack_channel_name_taken',
  invalid_name: 'invalid_slack_channel_name_request',
  rate_limited: 'rate_limited',
  unavailable: 'service_unavailable',
  refused: 'internal',
};

const MESSAGES: Partial<Record<ChatFailureReason, string>> = {
  not_connected: 'The chat rejects the workspace’s connection',
  channel_missing: 'The incident’s channel does not exist or is not accessible to the connection',
  name_taken: 'Another channel has this name',
};

export const channelNotLinked = () =>
  new DomainError('incident_slack_channel_missing', 'The incident has no linked channel');

export const chatNotConfigured = () => new DomainError('slack_not_configured', 'The workspace has no chat connection');

/** Converts a chat error into the API's error; returns any other error unchanged. */
export function toDomainError(error: unknown): unknown {
  if (!(error instanceof ChatError)) return error;
  const { reason, retryAfter } = error;
  const message = MESSAGES[reason];
  if (message !== undefined) return new DomainError(ERROR_CODES[reason], message);
  if (reason === 'invalid_name') {
    return new DomainError(ERROR_CODES[reason], 'The chat does not accept this name', { field: 'name' });
  }
  // That of a limit is expected.
  const cause = reason === 'unavailable' ? error : undefined;
  return serviceUnavailable('The chat is unavailable', { seconds: retryAfter, cause });
}

/** Converts an error of a provisioning step into the failure that is stored. */
export function toStepFailure(error: unknown): StepFailure {
  if (error instanceof DomainError) return { errorCode: error.code, isTransient: false };
  // An error of this service or its database may be temporary.
  if (!(error instanceof ChatError)) return { errorCode: 'internal', isTransient: true };
  const { reason, retryAfter } = error;
  const isTransient = reason === 'unavailable' || reason === 'rate_limited';
  return {
    errorCode: ERROR_CODES[reason],
    isTransient,
    ...(reason === 'rate_limited' && { retryAfter: retryAfter ?? 1 }),
  };
}

/** Encrypts chat tokens with the current key; workspaces whose token no configured key decrypts have to be connected again. */
export const chatTokenRotation = (dependencies: SealingDependencies & { secretKeys: string }) => {
  const { currentKeyId, open, seal } = chatTokens(dependencies.secretKeys);
  return sealAgain<ChatConnection, ChatTokens>(dependencies, {
    gauge: { name: 'tocsin_chat_unopened_tokens', help: 'Workspaces whose chat token no configured key decrypts' },
    message: 'cannot decrypt chat tokens: their key is not configured',
    idOf: ({ workspaceId }) => workspaceId,
    list: async (trx, page) => chatConnectionStore(trx).listEncryptedWithOtherKeys(currentKeyId, page),
    open,
    replace: async (trx, { workspaceId }, tokens) =>
      chatConnectionStore(trx).replaceTokens(workspaceId, seal(workspaceId, tokens)),
  });
};

/** A chat that a dry run uses: its changes only check whether the chat would refuse them, as far as the chat says so. */
const unchangedChat = (chat: Chat): Chat => ({
  check: chat.check,
  findPerson: chat.findPerson,
  getPermalink: chat.getPermalink,
  findChannel: chat.findChannel,
  getChannel: chat.getChannel,
  renameChannel: async (_channelId, name) => {
    if ((await chat.findChannel(name)) !== undefined) throw new ChatError('name_taken', 'Another channel has the name');
  },
  createChannel: unsupported,
  setPurpose: unsupported,
  setTopic: unsupported,
  inviteUsergroups: unsupported,
  postMessage: unsupported,
  postMarkup: unsupported,
});

/** Only background work does these. */
const unsupported = async (): Promise<never> => {
  throw new Error('a dry run changes nothing in a chat');
};
