/** A channel of the fake Slack; tests may change it. */
export interface SlackChannel {
  id: string;
  name: string;
  purpose: string;
  topic: string;
  /** A user ID, like those in `members`. */
  creator: string;
  /** Unix seconds. */
  created: number;
  isArchived: boolean;
  /** Only its members can see it. */
  isPrivate: boolean;
  members: string[];
  /** What was posted, as the calls gave it. */
  messages: SlackArguments[];
}

export interface SlackUsergroup {
  id: string;
  /** Without `@`. */
  handle: string;
  users: string[];
}

/** A person in the fake Slack. */
interface SlackPerson {
  id: string;
  name: string;
  email?: string;
  /** Default: that of the app. */
  team?: string;
  isEmailConfirmed?: boolean;
  deleted?: boolean;
}

/** The team where the app is installed. */
export const TEAM = 'T0000001';

/** The state that the methods read and change. */
export interface SlackState {
  readonly people: SlackPerson[];
  /** The address of a new socket. */
  newSocket(): string;
  readonly channels: SlackChannel[];
  readonly usergroups: SlackUsergroup[];
  /** Users who cannot be invited, with Slack's error. */
  readonly uninvitable: Map<string, string>;
  /** The maximum number of channels on a page. */
  pageSize: number;
  addChannel(channel: { name: string; creator: string; isPrivate?: boolean }): SlackChannel;
}

export type SlackArguments = Record<string, string>;

/** An error response of Slack: `{ ok: false, error }` and more members. */
export class SlackError extends Error {
  readonly body: object;

  constructor(error: string, more: object = {}) {
    super(error);
    this.body = { ok: false, error, ...more };
  }
}
