/** A channel of a workspace's chat. */
export interface ChatChannel {
  id: string;
  name: string;
  /** The channel's description in the chat. */
  purpose: string;
  /** Whether this connection created it. */
  isOurs: boolean;
  /** Whether only its members can read it. */
  isPrivate: boolean;
  /** Unix milliseconds, from the chat's clock. */
  createdAt: number;
}

/** A user of a workspace's chat. */
export interface ChatPerson {
  name: string;
  /**
   * Confirmed, of an active member of the chat itself; undefined: it is none of these, or the connection may not read it.
   * Another organisation decides which addresses its people have.
   */
  email: string | undefined;
}

/**
 * The port to a workspace's chat, which is Slack. Every call ends within its time limit.
 * @throws ChatError from every method
 */
export interface Chat {
  /** Checks that the chat accepts the connection. @throws ChatError `not_connected` */
  check(): Promise<void>;
  /**
   * @returns the new channel; the chat may have changed its name
   * @throws ChatError `name_taken` (also if the connection cannot see the other channel), `invalid_name`
   */
  createChannel(name: string, options: Pick<ChatChannel, 'isPrivate'>): Promise<ChatChannel>;
  /**
   * Safe to repeat.
   * @param purpose at most 250 characters
   * @throws ChatError `channel_missing`
   */
  setPurpose(channelId: string, purpose: string): Promise<void>;
  /**
   * Safe to repeat.
   * @param topic at most 250 characters, in which nothing is markup
   * @throws ChatError `channel_missing`, also if the connection is no member of the channel
   */
  setTopic(channelId: string, topic: string): Promise<void>;
  /** Finds the channel with exactly this name among all visible channels, including archived ones. */
  findChannel(name: string): Promise<ChatChannel | undefined>;
  /** @throws ChatError `channel_missing`, also if the channel is archived */
  getChannel(channelId: string): Promise<ChatChannel>;
  /** @throws ChatError `channel_missing` (also without the right to rename it), `name_taken`, `invalid_name` */
  renameChannel(channelId: string, name: string): Promise<void>;
  /**
   * Invites the members of these user groups. Skips members who cannot be invited or are in the channel already, so it is
   * safe to repeat.
   * @param handles with or without the `@`, case-insensitive
   * @returns the handles of groups that do not exist; the other groups are invited
   * @throws ChatError `channel_missing`
   */
  inviteUsergroups(channelId: string, handles: readonly string[]): Promise<string[]>;
  /**
   * Posts a message. A repeated call posts it again.
   * @param text in which nothing is markup
   * @throws ChatError `channel_missing`, also if the connection is no member of the channel
   */
  postMessage(channelId: string, text: string): Promise<void>;
  /**
   * Posts a message. A repeated call posts it again.
   * @param text in the markup of the chat, which calls whom it says
   * @throws ChatError `channel_missing`, also if the connection is no member of the channel
   */
  postMarkup(channelId: string, text: string): Promise<void>;
  /** @returns undefined: the chat has no such user */
  findPerson(userId: string): Promise<ChatPerson | undefined>;
  /** @returns the address of a message. @throws ChatError `channel_missing`, also if there is no such message */
  getPermalink(channelId: string, messageId: string): Promise<string>;
}

/** Why a call failed, independent of the chat product. */
export type ChatFailureReason =
  /** The token was revoked, is invalid or lacks a permission. */
  | 'not_connected'
  /** The channel does not exist, is archived or is not accessible to the connection. */
  | 'channel_missing'
  | 'name_taken'
  | 'invalid_name'
  /** Too many calls; `retryAfter` tells how long to wait. */
  | 'rate_limited'
  /** The chat is down, does not respond or has a temporary failure. */
  | 'unavailable'
  /** Refused for any other reason; a retry does not help. */
  | 'refused';

/** A call failed, or its result is unknown. */
export class ChatError extends Error {
  override readonly name = 'ChatError';
  readonly reason: ChatFailureReason;
  /** Seconds; only with `rate_limited`. */
  readonly retryAfter: number | undefined;

  /** @param message may contain the chat's error code, but no secret */
  constructor(
    reason: ChatFailureReason,
    message: string,
    options: { retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryAfter = options.retryAfter;
  }
}
