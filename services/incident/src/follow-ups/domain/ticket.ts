import type { CallFailure } from '@tocsin/safe-http';
import type { FollowUp } from './follow-up.ts';

export const TICKET_STATUSES = ['pending', 'linked', 'failed'] as const;
export const TICKET_STATES = ['open', 'done'] as const;
export type TicketState = (typeof TICKET_STATES)[number];

/** The ticket of a follow-up in a tracker (contract: Trackers). */
export interface Ticket {
  followUpId: number;
  trackerId: number;
  /** `pending`: the tracker is asked for it; `failed`: it is not asked again by itself. */
  status: (typeof TICKET_STATUSES)[number];
  /** Null until the tracker has it, like `url` and `state`. */
  key: string | null;
  url: string | null;
  /** On which both last agreed. */
  state: TicketState | null;
  /** Why the tracker and the follow-up may differ; null: nothing has failed since they last agreed. */
  failure: CallFailure | null;
}

/** A follow-up, and its ticket if it has one. */
export interface TicketedFollowUp {
  followUp: FollowUp;
  ticket: Ticket | null;
}

export const newTicket = (of: Pick<Ticket, 'followUpId' | 'trackerId'>): Ticket => ({
  ...{ ...of, status: 'pending', key: null, url: null, state: null, failure: null },
});

/** The state that the ticket of a follow-up has. What is dropped is done. */
export const ticketStateOf = ({ status }: Pick<FollowUp, 'status'>): TicketState =>
  status === 'open' ? 'open' : 'done';
