import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { CallFailure } from '@tocsin/safe-http';
import type { Incident } from '../../incidents/domain/incident.ts';
import type { Ticket } from '../domain/ticket.ts';

/** A row of `TICKET_SELECTION`. */
type TicketRow = Omit<Ticket, 'failure'> & {
  reason: string | null;
  failureStatus: number | null;
  failedAt: Instant | null;
};

/** A select list whose rows `toTicket` reads. */
const TICKET_SELECTION = `follow_up_id as "followUpId", tracker_id as "trackerId", status, key, url, state,
  failure as reason, failure_status as "failureStatus", failed_at as "failedAt"`;

function toTicket({ reason, failureStatus, failedAt, ...row }: TicketRow): Ticket {
  const failure: CallFailure | null =
    reason === null || failedAt === null ? null : { reason, status: failureStatus, at: failedAt };
  return { ...row, failure };
}

/** Returns the tickets of follow-ups that the caller may see, by the IDs of those. */
export async function findTickets(db: Knex, workspaceId: number, ids: readonly number[]): Promise<Map<number, Ticket>> {
  if (ids.length === 0) return new Map();
  const rows = await query<TicketRow>(db, {
    name: 'find-tickets',
    text: `select ${TICKET_SELECTION} from follow_up_tickets
      where workspace_id = $1 and follow_up_id = any((select $2::bigint[])::bigint[])`,
    values: [workspaceId, ids],
  });
  return new Map(rows.map((row) => [row.followUpId, toTicket(row)]));
}

export const insertTicket = (workspaceId: number, { followUpId, trackerId }: Ticket, now: Instant): Statement => ({
  name: 'insert-ticket',
  text: `insert into follow_up_tickets (workspace_id, follow_up_id, tracker_id, status, due_at)
    values ($1, $2, $3, 'pending', $4)`,
  values: [workspaceId, followUpId, trackerId, now],
});

/**
 * Has follow-up and ticket compared, unless its creation has failed. Who holds the lease of the ticket does it again
 * afterwards.
 */
export const dueTicket = (workspaceId: number, followUpId: number, now: Instant): Statement => ({
  name: 'due-ticket',
  text: `update follow_up_tickets set due_at = $3
    where workspace_id = $1 and follow_up_id = $2 and status <> 'failed'`,
  values: [workspaceId, followUpId, now],
});

const has = (filter: string, value: string) =>
  `(auto_filters -> '${filter}' = '[]' or auto_filters -> '${filter}' @> to_jsonb(${value}))`;

const AUTOMATIC = `select id from trackers
  where workspace_id = $1 and archived_at is null and not is_paused and auto_filters is not null
    and (include_restricted or not $2::boolean)
    and ${has('severities', '$3::text')} and ${has('services', '$4::text')}
    and ${has(
      'team_ids',
      `coalesce($5::bigint, (select owner_team_id from replica_services
        where workspace_id = $1 and slug = $4 and archived_at is null), 0)`,
    )}
  order by id limit 1`;

/** Returns the first tracker in which new follow-ups of the incident get tickets by themselves. */
export async function findAutomaticTracker(
  db: Knex,
  { workspaceId, restricted, severity, service, teamId }: Incident,
): Promise<number | undefined> {
  const values = [workspaceId, restricted, severity, service, teamId];
  const [row] = await query<{ id: number }>(db, { name: 'find-automatic-tracker', text: AUTOMATIC, values });
  return row?.id;
}
