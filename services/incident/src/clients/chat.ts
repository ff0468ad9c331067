/** A channel of a workspace's chat. */
export interface ChatChannel {
  id: string;
  name: string;
  /** What it says it is for. */
  purpose: string;
  /** Whether our own connection made it. */
  isOurs: boolean;
  /** Unix milliseconds, by the chat's clock. */
  createdAt: number;
}

/**
 * A workspace's chat as incidents need it; Slack today. Every call ends within its time limit.
 * @throws ChatError from every call
 */
export interface Chat {
  /** Whether the connection is accepted at all. @throws ChatError `not_connected` when it is not */
  check(): Promise<void>;
  /**
   * @returns what the chat made; it may have changed the name
   * @throws ChatError `name_taken` also by a channel that the connection cannot see, `invalid_name`
   */
  createChannel(name: string): Promise<ChatChannel>;
  /**
   * Safe to repeat.
   * @param purpose at most 250 characters
   * @throws ChatError `channel_missing`
   */
  setPurpose(channelId: string, purpose: string): Promise<void>;
  /** The channel of exactly this name among all that the connection can see, archived ones included. */
  findChannel(name: string): Promise<ChatChannel | undefined>;
  /** Also one that is archived. @throws ChatError `channel_missing` */
  getChannel(channelId: string): Promise<ChatChannel>;
  /** @throws ChatError `channel_missing` also for a channel that is not ours to rename, `name_taken`, `invalid_name` */
  renameChannel(channelId: string, name: string): Promise<void>;
  /**
   * Invites everybody in these user groups who can be; who is in the channel already is left alone, so it is safe to
   * repeat.
   * @param handles with or without the `@`, in any case
   * @returns the handles that no group has; the other groups are invited nevertheless
   * @throws ChatError `channel_missing`
   */
  inviteUsergroups(channelId: string, handles: readonly string[]): Promise<string[]>;
}

/** What went wrong, in words that are no chat's own. */
export type ChatFault =
  /** The token was revoked, is not valid, or may not do what is asked. */
  | 'not_connected'
  /** The channel is gone, archived, or closed to the connection. */
  | 'channel_missing'
  | 'name_taken'
  | 'invalid_name'
  /** Too many calls; `retryAfter` says for how long. */
  | 'rate_limited'
  /** Down, hanging, or failing in a way that may pass. */
  | 'unavailable'
  /** Refused for a reason that none of ours covers; trying again does not help. */
  | 'refused';

/** A call that the chat did not carry out, or of which nobody knows. */
export class ChatError extends Error {
  override readonly name = 'ChatError';
  readonly fault: ChatFault;
  /** Seconds; with `rate_limited` only. */
  readonly retryAfter: number | undefined;

  /** @param message may hold the chat's own error code; nothing secret */
  constructor(fault: ChatFault, message: string, options: { retryAfter?: number | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.fault = fault;
    this.retryAfter = options.retryAfter;
  }
}
