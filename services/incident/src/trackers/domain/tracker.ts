import type { Instant } from '@tocsin/runtime';
import { afterCallFailure, type AfterCallFailure, type CalledState, type CallFailure } from '@tocsin/safe-http';
import type { WorkspaceContext } from '@tocsin/schemas';

export const KINDS = ['github', 'jira', 'gitlab', 'linear'] as const;
export type Kind = (typeof KINDS)[number];

/** Those that are not archived, in a workspace (contract: Trackers). */
export const MAX_TRACKERS = 20;

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
export interface Tracker extends CalledState {
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
  createdAt: Instant;
  updatedAt: Instant;
}

/** A ticket that the tracker has. */
export interface MadeTicket {
  /** What the tracker calls it: by it, the ticket is found in the API and in webhooks. */
  key: string;
  url: string;
}

const RULE = { failingFrom: 3, firstWait: 5_000, longestAsked: 86_400_000 };

/** What the tracker waits for, after it has failed as a whole. @param failure.wait what it has asked for; milliseconds */
export const afterFailure = (
  tracker: Pick<Tracker, 'failures' | 'failingSince'>,
  { wait, ...failure }: CallFailure & { wait: number | undefined },
): AfterCallFailure =>
  afterCallFailure(tracker, { ...failure, isDenied: failure.reason === 'denied', asked: wait }, RULE);
