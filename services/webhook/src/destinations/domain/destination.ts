import type { FeedType } from '@tocsin/schemas';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
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
/** Failures in a row from which a destination counts as failing. */
const FAILING_FROM = 5;

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

/** Why the latest message did not arrive. */
export interface Failure {
  /** From a fixed list, never text of the receiver. */
  reason: string;
  /** Its HTTP status, if there is one. */
  status: number | null;
  at: Instant;
}

/** Where a workspace tells of its incidents (contract: Destinations). */
export interface Destination {
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
  isPaused: boolean;
  createdAt: Instant;
  updatedAt: Instant;
  archivedAt: Instant | null;
  /** Everything up to it is sent, or not for this destination. */
  place: FeedPlace;
  /** In a row. */
  failures: number;
  /** Since when none of them was a success; null: the latest message arrived. */
  failingSince: Instant | null;
  lastSuccessAt: Instant | null;
  lastFailure: Failure | null;
  /** Before it, nothing is sent. */
  dueAt: Instant;
  /** Events that the receiver has refused, each alone, since the creation. */
  leftOut: number;
}

export type DestinationStatus = 'active' | 'failing' | 'paused' | 'archived';
export const STATUSES = ['active', 'failing', 'paused', 'archived'] as const satisfies DestinationStatus[];

export function statusOf({ archivedAt, isPaused, failingSince }: Destination): DestinationStatus {
  if (archivedAt !== null) return 'archived';
  if (isPaused) return 'paused';
  return failingSince === null ? 'active' : 'failing';
}

const FIRST_WAIT = 2_000;
/** A receiver that does not accept what proves who sends is asked again more rarely. */
const FIRST_WAIT_WHEN_DENIED = 60_000;
const LONGEST_WAIT = 3_600_000;
/** After a failure of our own, such as a proxy that refuses: it says nothing about the receiver. */
const WAIT_WHEN_LOCAL = 30_000;

/** What the next attempt waits for, after one that failed. */
export function afterFailure(
  { failures, failingSince }: Pick<Destination, 'failures' | 'failingSince'>,
  failure: Failure & { isDenied: boolean; isLocal: boolean; retryAfter: number | undefined },
): Pick<Destination, 'failures' | 'failingSince' | 'lastFailure' | 'dueAt'> {
  const { reason, status, at, isDenied, isLocal, retryAfter } = failure;
  const lastFailure = { reason, status, at };
  if (isLocal) return { failures, failingSince, lastFailure, dueAt: addMilliseconds(at, WAIT_WHEN_LOCAL) };
  const first = isDenied ? FIRST_WAIT_WHEN_DENIED : FIRST_WAIT;
  const backoff = Math.min(LONGEST_WAIT, first * 2 ** Math.min(failures, 20));
  const wait = retryAfter === undefined ? backoff : Math.min(LONGEST_WAIT, Math.max(FIRST_WAIT, retryAfter));
  return {
    failures: failures + 1,
    failingSince: failingSince ?? (isDenied || failures + 1 >= FAILING_FROM ? at : null),
    lastFailure,
    dueAt: addMilliseconds(at, wait),
  };
}
