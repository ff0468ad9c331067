import { invalidRequest, invalidState } from '@tocsin/http';
import { query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Caller } from '@tocsin/versioned-resources';
import { lockFollowUp } from '../follow-ups/follow-ups.ts';
import { newTicket, type Ticket, type TicketedFollowUp } from '../follow-ups/domain/ticket.ts';
import { findTickets, insertTicket } from '../follow-ups/store/ticket-store.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { trackerStore } from './store/tracker-store.ts';

type TicketDependencies = CommandDependencies & { wakeTrackers: () => void };

/**
 * Has a ticket made of a follow-up, or what has failed for it tried again (contract: Trackers). Idempotent.
 * @throws DomainError `not_found`, `invalid_request` naming `tracker_id`, `invalid_resource_state`
 */
export async function makeTicket(
  dependencies: TicketDependencies,
  { principal: { workspace }, id, trackerId }: Caller & { id: number; trackerId: number },
): Promise<TicketedFollowUp> {
  const answer = await runCommand<TicketedFollowUp, Awaited<ReturnType<typeof reads>>>(dependencies, {
    workspace,
    reads: async (trx) => reads(trx, { workspaceId: workspace.id, id, trackerId }),
    decides: ({ incident, followUp, tracker, ticket }, { now }) => {
      checkWritable(incident);
      if (tracker === undefined) throw invalidRequest('tracker_id', 'Must be a tracker of the workspace');
      if (tracker.archivedAt !== null) throw invalidState('The tracker is archived');
      if (tracker.isPaused) throw invalidState('The tracker is paused');
      if (incident.restricted && !tracker.includeRestricted)
        throw invalidState('The tracker gets no restricted incidents');
      if (ticket !== undefined && ticket.trackerId !== trackerId)
        throw invalidState('The follow-up has a ticket in another tracker; unlink it first');
      if (ticket === undefined) {
        const added = newTicket({ followUpId: id, trackerId });
        return { stores: [insertTicket(workspace.id, added, now)], answer: () => ({ followUp, ticket: added }) };
      }
      if (ticket.failure === null) return { stores: [], answer: () => ({ followUp, ticket }) };
      const again = { ...ticket, status: ticket.key === null ? 'pending' : 'linked', failure: null } as const;
      const tries = [retryOfTicket(workspace.id, again, now), retryOfTracker(workspace.id, trackerId, now)];
      return { stores: tries, answer: () => ({ followUp, ticket: again }) };
    },
  });
  dependencies.wakeTrackers();
  return answer;
}

/** Forgets the ticket of a follow-up; nothing happens in the tracker. Idempotent. @throws DomainError `not_found` */
export async function unlinkTicket(
  dependencies: TicketDependencies,
  { principal: { workspace }, id }: Caller & { id: number },
): Promise<void> {
  await runCommand(dependencies, {
    workspace,
    reads: async (trx) => lockFollowUp(trx, workspace.id, id),
    decides: ({ incident }) => {
      checkWritable(incident);
      const text = 'delete from follow_up_tickets where workspace_id = $1 and follow_up_id = $2';
      return { stores: [{ name: 'delete-ticket', text, values: [workspace.id, id] }], answer: () => undefined };
    },
  });
}

async function reads(
  trx: Parameters<typeof lockFollowUp>[0],
  { workspaceId, id, trackerId }: { workspaceId: number; id: number; trackerId: number },
) {
  const locked = await lockFollowUp(trx, workspaceId, id);
  const tracker = await trackerStore(trx, workspaceId).find(trackerId);
  // Whoever has its lease may store a result now.
  await query(trx, {
    name: 'lock-ticket',
    text: 'select follow_up_id from follow_up_tickets where workspace_id = $1 and follow_up_id = $2 for update',
    values: [workspaceId, id],
  });
  return { ...locked, tracker, ticket: (await findTickets(trx, workspaceId, [id])).get(id) };
}

const retryOfTicket = (workspaceId: number, { followUpId, status }: Ticket, now: Instant): Statement => ({
  name: 'retry-ticket',
  text: `update follow_up_tickets set status = $3, failure = null, failure_status = null, failed_at = null, due_at = $4
    where workspace_id = $1 and follow_up_id = $2`,
  values: [workspaceId, followUpId, status, now],
});

/** A tracker that has asked to wait is left alone until then. */
const retryOfTracker = (workspaceId: number, id: number, now: Instant): Statement => ({
  name: 'retry-tracker',
  text: `update trackers set due_at = least(due_at, $3)
    where workspace_id = $1 and id = $2 and last_failure is distinct from 'rate_limited'`,
  values: [workspaceId, id, now],
});
