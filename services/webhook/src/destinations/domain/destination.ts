import type { FeedType } from '@tocsin/schemas';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { afterCallFailure, type AfterCallFailure, type CalledState, type CallFailure } from '@tocsin/safe-http';
import type { FeedPlace } from '../../feed/domain/feed-place.ts';
import type { ReceiverHeaders } from '../../requests/domain/destination.ts';

export const KINDS = [
  ...(['slack', 'slack_app', 'teams', 'google_chat', 'discord', 'mattermost', 'ntfy'] as const),
  ...(['email', 'pagerduty', 'goalert', 'http'] as const),
] as const;
export type Kind = (typeof KINDS)[number];

/** Those that are not archived, in a workspace (contract: Destinations). */
export const MAX_DESTINATIONS = 20;
export const MAX_RECIPIENTS = 20;
/** Those that a workspace may create within an hour, which bounds the archived ones. */
export const MAX_CREATED_AN_HOUR = 100;

/** Which events a destination gets; an empty list selects all. Those that are no incident's have only a type. */
export interface Filters {
  event_types: readonly FeedType[];
  /** Of timeline events, such as `update`. */
  timeline_types: readonly string[];
  severities: readonly string[];
  statuses: readonly string[];
  services: readonly string[];
  team_ids: readonly number[];
  roles: readonly string[];
}

export const NO_FILTERS: Filters = {
  ...{ event_types: [], timeline_types: [], severities: [], statuses: [], services: [], team_ids: [], roles: [] },
};

/** Where messages go, which is sealed as a whole: the URL and what proves who sends them. */
export interface Address {
  /** Empty: the kind has none. */
  url: string;
  /** Empty: none. */
  credential: string;
  headers: ReceiverHeaders;
}

/** Where a workspace tells of its incidents (contract: Destinations). */
export interface Destination extends CalledState {
  id: number;
  workspaceId: number;
  revision: number;
  name: string;
  kind: Kind;
  /** Scheme and host of the URL: all of it that is ever shown. Empty: the kind has none. */
  origin: string;
  host: string;
  hasCredential: boolean;
  headerNames: readonly string[];
  /** Email addresses of active users; of a kind that says so, something else. */
  recipients: readonly string[];
  filters: Filters;
  /** Null: the text of Tocsin. */
  template: string | null;
  includeRestricted: boolean;
  createdAt: Instant;
  updatedAt: Instant;
  /** Everything up to it is sent, or not for this destination. */
  place: FeedPlace;
  /** Events that the receiver has refused, each alone, since the creation. */
  leftOut: number;
}

const RULE = { failingFrom: 5, firstWait: 2_000, longestAsked: 3_600_000 };
/** After a failure of our own, such as a proxy that refuses: it says nothing about the receiver. */
const WAIT_WHEN_LOCAL = 30_000;

/** What the next attempt waits for, after one that failed. */
export function afterFailure(
  { failures, failingSince }: Pick<Destination, 'failures' | 'failingSince'>,
  failure: CallFailure & { isDenied: boolean; isLocal: boolean; retryAfter: number | undefined },
): AfterCallFailure {
  const { reason, status, at, isLocal, retryAfter } = failure;
  return isLocal
    ? { failures, failingSince, lastFailure: { reason, status, at }, dueAt: addMilliseconds(at, WAIT_WHEN_LOCAL) }
    : afterCallFailure({ failures, failingSince }, { ...failure, asked: retryAfter }, RULE);
}
