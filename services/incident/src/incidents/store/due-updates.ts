import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Incident } from '../domain/incident.ts';
import { INCIDENT_SELECTION } from './incident-row.ts';

/** Incidents of which one look publishes. */
export const MAX_DUE = 100;

/** Of all workspaces; by the clock of the database unless a test has another one. */
const IS_DUE = `update_reminder is not null and ended_at is null and archived_at is null
  and next_update_at <= coalesce($1::timestamptz, now())`;

/** Whether there is an active incident whose next update is due, and nobody has published it. */
export const hasDueUpdates = async (db: Knex, now: Instant | null): Promise<boolean> =>
  (
    await query(db, {
      name: 'find-due-update',
      text: `select id from incidents where ${IS_DUE} limit 1`,
      values: [now],
    })
  ).length > 0;

/** Locks those that nobody else has locked. */
export const lockDueUpdates = (now: Instant | null): Statement<Incident> => ({
  name: 'lock-due-updates',
  text: `select ${INCIDENT_SELECTION} from incidents where ${IS_DUE}
    order by next_update_at limit ${MAX_DUE} for update skip locked`,
  values: [now],
});

export const clearReminders = (incidents: readonly Incident[]): Statement => ({
  name: 'clear-update-reminders',
  text: `update incidents set update_reminder = null
    from unnest((select $1::bigint[]), (select $2::bigint[])) as due (workspace_id, id)
    where incidents.workspace_id = due.workspace_id and incidents.id = due.id`,
  values: [incidents.map(({ workspaceId }) => workspaceId), incidents.map(({ id }) => id)],
});
