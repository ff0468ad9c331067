import type { TrackerHook } from '@tocsin/schemas';
import type { TicketState } from '../../../follow-ups/domain/ticket.ts';
import type { FollowUpStatus } from '../../../follow-ups/domain/follow-up.ts';
import type { MadeTicket } from '../../domain/tracker.ts';
import type { TrackerApi } from '../tracker-api.ts';

/** Where tickets are made. */
interface Place {
  project: string;
  issueType: string;
}

/** What a ticket is made of. */
export interface NewTicket {
  title: string;
  /** Paragraphs: what is to be done, and where it comes from. */
  paragraphs: readonly string[];
  /** A UUID by which the ticket is found again. */
  marker: string;
}

/**
 * A kind of trackers, written from its public documentation. Its requests throw a
 * `TrackerFailure`.
 */
export interface TrackerKind {
  /** Of the API; empty: there is none. */
  url: string;
  /** How a project is named, and what a message says of that. */
  project: { pattern: RegExp; is: string };
  /** Whether tickets have a type, and the default. */
  issueType?: string;
  /** The headers of each request. */
  headers: (credential: string) => Readonly<Record<string, string>>;
  /** Asks whether tickets can be made in the project. */
  check: (api: TrackerApi, place: Place) => Promise<void>;
  create: (api: TrackerApi, place: Place, ticket: NewTicket) => Promise<MadeTicket>;
  /** Looks for the ticket of an earlier attempt. @param ticket.since when the first one began */
  find: (api: TrackerApi, place: Place, ticket: { marker: string; since: string }) => Promise<MadeTicket | undefined>;
  read: (api: TrackerApi, key: string) => Promise<TicketState>;
  /** Gives a ticket the state of a follow-up. */
  write: (api: TrackerApi, key: string, status: FollowUpStatus) => Promise<void>;
  /** Whether a webhook shows that it knows the secret. In constant time. */
  isSigned: (request: { headers: TrackerHook['headers']; body: Buffer; secret: string }) => boolean;
  /** The key of the ticket that a webhook is about. */
  keyOf: (payload: unknown) => string | undefined;
}
