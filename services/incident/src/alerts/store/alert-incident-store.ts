import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { AlertIncident, KnownIncident } from '../domain/known.ts';

type IncidentRow = Omit<KnownIncident, 'alerts'> &
  Omit<AlertIncident, 'recoveredAt'> & { recoveredByAlerts: Instant | null };

/** Who closed an incident is in its changelog, at the time of its status. */
const FIND_INCIDENTS = `select incident.id, incident.number, incident.created_at as "createdAt", incident.revision, incident.status,
    incident.status_changed_at as "statusChangedAt", incident.archived_at as "archivedAt", incident.severity,
    incident.is_unhandled_alert as "isUnhandledAlert", incident.is_duplicate as "isDuplicate",
    incident.recovered_at as "recoveredAt", incident.impact_started_at as "impactStartedAt",
    incident.event_count as "eventCount",
    case when incident.status = any((select $3::text[])::text[]) then (
      select actor from changelog
      where workspace_id = $1 and incident_id = incident.id and changed_at = incident.status_changed_at
      order by id desc limit 1) else incident.archived_by::text end as "closedBy",
    alerts.ended_at as "endedAt", alerts.recovered_at as "recoveredByAlerts",
    alerts.resolved_revision as "resolvedRevision", alerts.last_end as "lastEnd",
    (select coalesce(sum(firing), 0)::int from alert_groups
     where workspace_id = $1 and incident_id = incident.id) as firing
  from incidents as incident left join alert_incidents as alerts
    on alerts.workspace_id = incident.workspace_id and alerts.incident_id = incident.id
  where incident.workspace_id = $1 and incident.id = any((select $2::bigint[])::bigint[])`;

/** Duplicates that are followed to an incident that is open. */
const MAX_STEPS = 20;

const FIND_ORIGINALS = `with recursive walk (id, original, steps) as (
    select id, id, 0 from unnest((select $2::bigint[])) as id
    union
    select walk.id, next.related_id, steps + 1 from walk cross join lateral (
      select related_id from incident_relations
      where workspace_id = $1 and incident_id = walk.original and type = 'duplicate_of' offset 0) as next
    where steps < ${MAX_STEPS}
  )
  select distinct on (walk.id) walk.id, walk.original from walk join incidents
    on incidents.workspace_id = $1 and incidents.id = walk.original
  where incidents.archived_at is null and incidents.status <> all((select $3::text[])::text[])
  order by walk.id, steps, walk.original`;

/** The incidents of one workspace as alerts concern them, over a pool or a transaction. */
export function alertIncidentStore(db: Knex, workspaceId: number) {
  return {
    /** Incidents of the workspace, by ID. */
    async find(ids: readonly number[], terminal: readonly string[]): Promise<Map<number, KnownIncident>> {
      if (ids.length === 0) return new Map();
      const rows = await query<IncidentRow>(db, {
        name: 'find-alert-incidents',
        text: FIND_INCIDENTS,
        values: [workspaceId, ids, terminal],
      });
      return new Map(
        rows.map(({ endedAt, recoveredByAlerts, resolvedRevision, lastEnd, ...incident }) => [
          incident.id,
          { ...incident, alerts: { endedAt, recoveredAt: recoveredByAlerts, resolvedRevision, lastEnd } },
        ]),
      );
    },

    /** By the ID of an incident: the nearest open one that it is a duplicate of. */
    async findOriginals(ids: readonly number[], terminal: readonly string[]): Promise<Map<number, number>> {
      if (ids.length === 0) return new Map();
      const rows = await query<{ id: number; original: number }>(db, {
        name: 'find-alert-originals',
        text: FIND_ORIGINALS,
        values: [workspaceId, ids, terminal],
      });
      return new Map(rows.map(({ id, original }) => [id, original]));
    },

    save: async (incidentId: number, { endedAt, recoveredAt, resolvedRevision, lastEnd }: AlertIncident) =>
      query(db, {
        name: 'save-alert-incident',
        text: `insert into alert_incidents
          (workspace_id, incident_id, ended_at, recovered_at, resolved_revision, last_end)
        values ($1, $2, $3, $4, $5, $6)
        on conflict (workspace_id, incident_id) do update set ended_at = excluded.ended_at,
          recovered_at = excluded.recovered_at, resolved_revision = excluded.resolved_revision,
          last_end = excluded.last_end`,
        values: [workspaceId, incidentId, endedAt, recoveredAt, resolvedRevision, lastEnd],
      }),
  };
}

/** Returns the numbers of incidents of a workspace by their IDs. */
export async function incidentNumbers(
  db: Knex,
  workspaceId: number,
  ids: readonly number[],
): Promise<Map<number, number>> {
  const rows = await query<{ id: number; number: number }>(db, {
    name: 'incident-numbers',
    text: 'select id, number from incidents where workspace_id = $1 and id = any((select $2::bigint[])::bigint[])',
    values: [workspaceId, ids],
  });
  return new Map(rows.map(({ id, number }) => [id, number]));
}
