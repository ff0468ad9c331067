import {
  type ChatMessage,
  type ChatMessageOutcome,
  chatMessageOutcome,
  type EventContext,
  eventContext,
  type EventContextQuery,
  INTERNAL_PATHS,
  lastIncidentNumber,
} from '@tocsin/schemas';
import { internalClient } from '@tocsin/http';

/** Client of the incident service. Calls have a timeout, and fail at once while the service is known to be down. */
export interface IncidentClient {
  /**
   * The number of the workspace's latest incident (`INC-<number>`), 0 before the first. Incidents whose creation was
   * confirmed before the call have at most this number; incidents requested after it returned have a higher one.
   */
  lastIncidentNumber(workspaceId: number): Promise<number>;
  /** What describes events of a workspace. */
  eventContext(asked: EventContextQuery): Promise<EventContext>;
  /** Posts a message into a channel of the workspace's chat. */
  postChatMessage(message: ChatMessage): Promise<ChatMessageOutcome>;
  close(): void;
}

/** Milliseconds for a message in a chat, whose call takes five seconds at most. */
const CHAT_TIMEOUT = 8_000;

/** @throws ConfigError when `secretKeys` has no key for calls to the incident service */
export function incidentClient({ urls, secretKeys }: { urls: readonly string[]; secretKeys: string }): IncidentClient {
  const options = { urls, self: 'webhook', service: 'incident', secretKeys };
  const client = internalClient(options);
  const chat = internalClient({ ...options, timeout: CHAT_TIMEOUT });
  return {
    lastIncidentNumber: async (workspaceId) => {
      const query = { workspace_id: workspaceId };
      return (await client.get(INTERNAL_PATHS.lastIncidentNumber, query, lastIncidentNumber)).number;
    },
    eventContext: async (asked) => client.post(INTERNAL_PATHS.eventContexts, asked, eventContext),
    postChatMessage: async (message) => chat.post(INTERNAL_PATHS.chatMessages, message, chatMessageOutcome),
    close: () => [client, chat].forEach((each) => each.close()),
  };
}
