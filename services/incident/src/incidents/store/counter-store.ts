import { type Knex, query } from '@tocsin/postgres';
import { HAS_NUMBER } from './incident-row.ts';

/** A counter that has fallen behind the incidents: the next create would give a number out again. */
interface LateCounter {
  workspaceId: number;
  last: number;
  highest: number;
}

const FIND_LATE = `
  select ids.workspace_id as "workspaceId", coalesce(counter.last, 0) as last, incident.number as highest
  from unnest($1::bigint[]) as ids (workspace_id)
  left join incident_counters as counter on counter.workspace_id = ids.workspace_id
  cross join lateral (
    select number from incidents where incidents.workspace_id = ids.workspace_id and ${HAS_NUMBER}
    order by number desc limit 1
  ) as incident
  where incident.number > coalesce(counter.last, 0)`;

/** What takes longer than this is a fault: the measurements of all workspaces share six hours of the night. */
const OVERDUE_AFTER = `interval '6 hours'`;

/** Counters of incident numbers and measurements of stored bytes, for an operator. */
export function counterStore(db: Knex) {
  return {
    async findLate(workspaceIds: readonly number[]): Promise<LateCounter[]> {
      return query<LateCounter>(db, { text: FIND_LATE, values: [workspaceIds] });
    },

    /** The last number that each of these workspaces has given out; those without an incident are missing. */
    async lastNumbers(workspaceIds: readonly number[]): Promise<Map<number, number>> {
      const rows = await query<{ workspace_id: number; last: number }>(db, {
        text: `select workspace_id, last from incident_counters
          where workspace_id = any((select $1::bigint[])::bigint[])`,
        values: [workspaceIds],
      });
      return new Map(rows.map((row) => [row.workspace_id, row.last]));
    },

    /** Raises a counter; the next incident gets a higher number. */
    async raise(workspaceId: number, last: number): Promise<void> {
      await query(db, {
        text: `insert into incident_counters (workspace_id, last) values ($1, $2)
          on conflict (workspace_id) do update set last = greatest(incident_counters.last, excluded.last)`,
        values: [workspaceId, last],
      });
    },

    /** Workspaces with incidents whose stored bytes should have been measured hours ago, or are impossible. */
    async findUnmeasured(workspaceIds: readonly number[]): Promise<number[]> {
      const rows = await query<{ workspace_id: number }>(db, {
        text: `select counter.workspace_id from incident_counters as counter
         left join workspace_storage as stored on stored.workspace_id = counter.workspace_id
         where counter.workspace_id = any((select $1::bigint[])::bigint[]) and counter.last > 0 and (
           stored.measured_bytes < 0 or stored.due_at < now() - ${OVERDUE_AFTER}
           or stored.workspace_id is null and exists (
             select from incidents where incidents.workspace_id = counter.workspace_id
             and incidents.created_at < now() - ${OVERDUE_AFTER}))
         order by 1`,
        values: [workspaceIds],
      });
      return rows.map((row) => row.workspace_id);
    },

    /** Lets the incident service measure a workspace from the beginning. */
    async measureAgain(workspaceId: number): Promise<void> {
      await query(db, {
        text: `insert into workspace_storage (workspace_id, due_at, next_number, next_key, counted_bytes)
          values ($1, now(), 0, null, 0)
          on conflict (workspace_id) do update set due_at = excluded.due_at, next_number = excluded.next_number,
            next_key = excluded.next_key, counted_bytes = excluded.counted_bytes,
            measured_bytes = greatest(workspace_storage.measured_bytes, 0)`,
        values: [workspaceId],
      });
    },
  };
}

/**
 * Returns the number of a workspace's latest committed incident; 0 before the first. A create locks the counter's row until
 * it commits, so numbers become visible in order: every incident that a client knows has this number or a lower one, and
 * every later create gets a higher one.
 */
export async function lastNumber(db: Knex, workspaceId: number): Promise<number> {
  const [row] = await query<{ last: number }>(db, {
    name: 'find-last-number',
    text: 'select last from incident_counters where workspace_id = $1',
    values: [workspaceId],
  });
  return row?.last ?? 0;
}
