import type { ChatMessage, ChatMessageOutcome } from '@tocsin/schemas';
import { ChatError, type ChatFailureReason } from './clients/chat.ts';
import type { Chats } from './chats.ts';

type Reported = NonNullable<ChatMessageOutcome['failure']>['reason'];

/** What a failed message can be; the others are of names. */
const REPORTED: Partial<Record<ChatFailureReason, Reported>> = {
  not_connected: 'not_connected',
  channel_missing: 'channel_missing',
  rate_limited: 'rate_limited',
  unavailable: 'unavailable',
};

/** Posts a message for another service, which may repeat it (contract: Destinations). */
export async function postChatMessage(
  chats: Chats,
  { workspace_id: workspaceId, channel, text }: ChatMessage,
): Promise<ChatMessageOutcome> {
  try {
    const connected = await chats.find(workspaceId, 'request');
    if (connected === undefined) throw new ChatError('not_connected', 'The workspace has no connection to Slack');
    await connected.chat.postMarkup(channel, text);
    return { failure: null };
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    const { reason, message, retryAfter } = error;
    return {
      failure: {
        reason: REPORTED[reason] ?? 'refused',
        message,
        ...(retryAfter !== undefined && { retry_after: retryAfter }),
      },
    };
  }
}
