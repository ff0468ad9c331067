/** A channel of the fake Slack, to look at and to change. */
export interface SlackChannel {
  id: string;
  name: string;
  purpose: string;
  /** A user's ID, as all of `members`. */
  creator: string;
  /** Unix seconds. */
  created: number;
  isArchived: boolean;
  members: string[];
}

export interface SlackUsergroup {
  id: string;
  /** Without `@`. */
  handle: string;
  users: string[];
}

/** What the methods work on. */
export interface SlackState {
  readonly channels: SlackChannel[];
  readonly usergroups: SlackUsergroup[];
  /** Users who cannot be invited, with the error that says why. */
  readonly uninvitable: Map<string, string>;
  /** How many channels a page has at most. */
  pageSize: number;
  addChannel(channel: { name: string; creator: string }): SlackChannel;
}

export type SlackArguments = Record<string, string>;

/** `{ ok: false, error }`, with whatever Slack adds. */
export class SlackRefusal extends Error {
  readonly answer: object;

  constructor(error: string, more: object = {}) {
    super(error);
    this.answer = { ok: false, error, ...more };
  }
}
