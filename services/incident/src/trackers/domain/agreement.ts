import { addMilliseconds, type Instant } from '@tocsin/runtime';
import type { TicketState } from '../../follow-ups/domain/ticket.ts';

/**
 * Who has to change: each side has one of two states, and so has what they last agreed on, so only one of them can differ
 * from that.
 * @param agreed null: nothing yet
 */
export function decide(
  agreed: TicketState | null,
  { here, there }: { here: TicketState; there: TicketState },
): 'nobody' | 'here' | 'there' {
  if (here === there) return 'nobody';
  return there === agreed ? 'there' : 'here';
}

/** Milliseconds between two looks at a ticket of which no webhook tells. */
const POLL = { open: 900_000, done: 86_400_000 } as const;
/** Milliseconds after which nobody expects a ticket to be opened again. */
const POLLED_WHEN_DONE = 30 * 86_400_000;

/** When a ticket is looked at next; null: only if somebody tells of it. */
export function nextLook({ state, agreedAt }: { state: TicketState; agreedAt: Instant }, now: Instant): Instant | null {
  if (state === 'done' && Date.parse(now) - Date.parse(agreedAt) > POLLED_WHEN_DONE) return null;
  return addMilliseconds(now, POLL[state]);
}
