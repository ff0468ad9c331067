import type { Envelope, EventData } from '@tocsin/schemas';
import { type Knex, pipeline, query } from '@tocsin/postgres';
import { INCIDENT_OF_EVENT } from '../../shared/store/incident-of-event.ts';

export type DeletedIncident = Envelope<EventData<'incident.deleted'>>;

/** The type of an event that is empty: it keeps its position, and nobody reads it. */
const EMPTIED = 'emptied';
/** Events that one statement empties. */
const BATCH = 1_000;

/** Incidents that were deleted, whose events have to be emptied. */
export const deletedIncidents = (db: Knex) => ({
  add: async (events: readonly DeletedIncident[]): Promise<void> => {
    await query(db, {
      text: `insert into deleted_incidents (workspace_id, incident_id) 
        select workspace_id, incident_id
        from unnest($1::bigint[], $2::bigint[]) as deleted (workspace_id, incident_id)
        on conflict do nothing`,
      values: [events.map(({ workspace }) => workspace.id), events.map(({ data }) => data.incident.id)],
    });
  },

  /**
   * Empties a batch of events of the incident that is due first, and deletes its deliveries. An event may come behind that
   * of the deletion, so it is due again every hour, as long as a queue or a dead letter may have one.
   * @returns whether there may be more to do at once
   */
  empty: async (): Promise<boolean> => {
    const [due] = await query<{ workspaceId: number; incidentId: number }>(db, {
      text: `select workspace_id as "workspaceId", incident_id as "incidentId" from deleted_incidents
        where due_at <= now() order by due_at limit 1`,
    });
    if (due === undefined) return false;
    const { workspaceId, incidentId } = due;
    const [emptied] = await pipeline(db, [
      {
        text: `update feed_events set type = '${EMPTIED}', body = '' where workspace_id = $1 and position = any(array(
            select position from feed_events
            where workspace_id = $1 and resource = $2 and type not in ('${EMPTIED}', 'incident.deleted')
            limit ${BATCH}))
          returning position`,
        values: [workspaceId, `incident:${incidentId}`],
      },
      {
        text: `delete from events where workspace_id = $1 and ${INCIDENT_OF_EVENT} = $2`,
        values: [workspaceId, String(incidentId)],
      },
    ]);
    if (emptied.length === BATCH) return true;
    await pipeline(db, [
      {
        text: `update deleted_incidents set due_at = now() + interval '1 hour'
          where workspace_id = $1 and incident_id = $2`,
        values: [workspaceId, incidentId],
      },
      {
        text: `delete from deleted_incidents
          where workspace_id = $1 and incident_id = $2 and heard_at < now() - interval '30 days'`,
        values: [workspaceId, incidentId],
      },
    ]);
    return true;
  },
});
