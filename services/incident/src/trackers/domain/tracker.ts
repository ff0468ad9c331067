import { addMilliseconds, type Instant } from '@tocsin/runtime';
import type { WorkspaceContext } from '@tocsin/schemas';
import type { TicketFailure } from '../../follow-ups/domain/ticket.ts';

export const KINDS = ['github', 'jira', 'gitlab', 'linear'] as const;
export type Kind = (typeof KINDS)[number];

/** Those that are not archived, in a workspace (contract: Trackers). */
export const MAX_TRACKERS = 20;
/** Failures in a row from which a tracker counts as failing. */
const FAILING_FROM = 3;

/** Of which incidents each new follow-up gets a ticket; an empty list selects all. */
export interface AutoFilters {
  severities: readonly string[];
  services: readonly string[];
  team_ids: readonly number[];
}

/** What is sealed as a whole: where the tracker is, and what proves who asks, on both sides. */
export interface Address {
  url: string;
  credential: string;
  /** Signs the tracker's webhooks. */
  secret: string;
}

/** A system of tickets that a workspace uses (contract: Trackers). */
export interface Tracker {
  id: number;
  workspaceId: number;
  revision: number;
  name: string;
  kind: Kind;
  /** Scheme and host of the URL: all of it that is ever shown. */
  origin: string;
  /** In which tickets are made, as the kind names it. */
  project: string;
  /** Empty: the kind has none. */
  issueType: string;
  /** Null: tickets are only made by hand. */
  autoFilters: AutoFilters | null;
  includeRestricted: boolean;
  /** As its last change knew it, in whose name follow-ups change. */
  workspace: WorkspaceContext;
  isPaused: boolean;
  createdAt: Instant;
  updatedAt: Instant;
  archivedAt: Instant | null;
  /** In a row. */
  failures: number;
  /** Since when none of them was a success; null: it works. */
  failingSince: Instant | null;
  lastSuccessAt: Instant | null;
  lastFailure: TicketFailure | null;
  /** Before it, the tracker is not asked. */
  dueAt: Instant;
}

/** A ticket that the tracker has. */
export interface MadeTicket {
  /** What the tracker calls it: by it, the ticket is found in the API and in webhooks. */
  key: string;
  url: string;
}

export const STATUSES = ['active', 'failing', 'paused', 'archived'] as const;
export type TrackerStatus = (typeof STATUSES)[number];

export function statusOf({ archivedAt, isPaused, failingSince }: Tracker): TrackerStatus {
  if (archivedAt !== null) return 'archived';
  if (isPaused) return 'paused';
  return failingSince === null ? 'active' : 'failing';
}

const FIRST_WAIT = 5_000;
/** A tracker that does not accept who asks is asked again more rarely. */
const FIRST_WAIT_WHEN_DENIED = 60_000;
const LONGEST_WAIT = 3_600_000;
/** What a tracker may ask for. */
const LONGEST_ASKED = 86_400_000;

/** What the tracker waits for, after it has failed as a whole. @param failure.wait what it has asked for; milliseconds */
export function afterFailure(
  { failures, failingSince }: Pick<Tracker, 'failures' | 'failingSince'>,
  { wait: asked, ...lastFailure }: TicketFailure & { wait: number | undefined },
): Pick<Tracker, 'failures' | 'failingSince' | 'dueAt'> & { lastFailure: TicketFailure } {
  const { reason, at } = lastFailure;
  const isDenied = reason === 'denied';
  const first = isDenied ? FIRST_WAIT_WHEN_DENIED : FIRST_WAIT;
  const backoff = Math.min(LONGEST_WAIT, first * 2 ** Math.min(failures, 20));
  const wait = asked === undefined ? backoff : Math.min(LONGEST_ASKED, Math.max(FIRST_WAIT, asked));
  return {
    failures: failures + 1,
    failingSince: failingSince ?? (isDenied || failures + 1 >= FAILING_FROM ? at : null),
    ...{ lastFailure, dueAt: addMilliseconds(at, wait) },
  };
}
