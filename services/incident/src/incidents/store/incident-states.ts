import type { PreparedStatement } from '@tocsin/postgres';
import type { Incident } from '../domain/incident.ts';
import { INCIDENT_SELECTION } from './incident-row.ts';

/** Locks several incidents until the transaction ends, in the order of their IDs, and returns them. */
export const lockIncidents = (workspaceId: number, ids: readonly number[]): PreparedStatement<Incident> => ({
  name: 'lock-incidents',
  text: `select ${INCIDENT_SELECTION} from incidents
    where workspace_id = $1 and id = any($2::bigint[]) order by incidents.id for update`,
  values: [workspaceId, ids],
});

/** Writes revision, status and severity of locked incidents. */
export const updateStates = (workspaceId: number, incidents: readonly Incident[]): PreparedStatement => ({
  name: 'update-incident-states',
  text: `update incidents set
      revision = state.revision, status = state.status, status_changed_at = state.status_changed_at,
      ended_at = state.ended_at, severity = state.severity, severity_mode = state.severity_mode
    from unnest($2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[])
      as state (id, revision, status, status_changed_at, ended_at, severity, severity_mode)
    where incidents.workspace_id = $1 and incidents.id = state.id`,
  values: [
    workspaceId,
    incidents.map(({ id }) => id),
    incidents.map(({ revision }) => revision),
    incidents.map(({ status }) => status),
    incidents.map(({ statusChangedAt }) => statusChangedAt),
    incidents.map(({ endedAt }) => endedAt),
    incidents.map(({ severity }) => severity),
    incidents.map(({ severityMode }) => severityMode),
  ],
});
