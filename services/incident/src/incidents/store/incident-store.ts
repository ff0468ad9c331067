import { notFound } from '@tocsin/http';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import { assignmentsOf } from '@tocsin/versioned-resources';
import type { Incident } from '../domain/incident.ts';
import { HAS_NUMBER, INCIDENT_SELECTION, type IncidentVersion, toColumns } from './incident-row.ts';
import type { Configuration } from '../../configuration/domain/configuration.ts';
import { checkLocked, lockConfiguration } from '../../configuration/store/configuration-store.ts';
import { visible } from '../../visibility/store/visible.ts';
import { currentViewer, noteRead } from '../../visibility/store/viewer.ts';

const SELECT = `select xmin, ${INCIDENT_SELECTION} from incidents`;

/** No two incidents of a workspace have the same external ID, archived ones included. */
export const EXTERNAL_ID_INDEX = 'incidents_by_external_id';

/** Locks the incident until the transaction ends. Returns it as the only row, or none. */
export const lockIncident = (workspaceId: number, id: number): Statement => ({
  name: 'get-incident-for-update',
  text: `${SELECT} where workspace_id = $1 and id = $2 and ${visible('incidents', 3)} for update`,
  values: [workspaceId, id, currentViewer()],
});

/** Returns the row of `lockIncident`. @throws DomainError `not_found` */
export function requireIncident(rows: readonly unknown[] | undefined): VersionedIncident {
  const [incident] = (rows ?? []) as VersionedIncident[];
  if (incident === undefined) throw notFound('The incident');
  return incident;
}

/** Updates properties of an incident that the transaction has locked. */
export function updateOfIncident(workspaceId: number, id: number, properties: Partial<Incident>): Statement {
  const { workspace_id, ...columns } = toColumns({ ...properties, workspaceId });
  const text = `update incidents set ${assignmentsOf(columns, 3)} where workspace_id = $1 and id = $2`;
  const values = [workspace_id, id, ...Object.values(columns)];
  return { name: 'update-incident', text, values, isComposed: true };
}

/** With the version in which it was read. */
export type VersionedIncident = Incident & IncidentVersion;

/**
 * The same update for an incident that nobody has locked: it divides by zero if the incident is another version. Returns the
 * version that this transaction writes.
 */
export function updateOfVersion(
  { name = '', text, values = [] }: Statement,
  { revision, xmin }: VersionedIncident,
): Statement<Pick<IncidentVersion, 'xmin'>> {
  const [expected, version] = [values.length + 1, values.length + 2];
  return {
    name: `${name}-of-version`,
    text: `with changed as (${text} and revision = $${expected} and xmin = $${version}::xid returning 1)
      select pg_current_xact_id()::xid as xmin, 1 / (select count(*) from changed) as changed`,
    values: [...values, revision, xmin],
    isComposed: true,
  };
}

/** Stores the incidents of one workspace, over a pool or a transaction. */
export function incidentStore(db: Knex, workspaceId: number) {
  /** @param condition on the incidents, of which the request sees those that it may; `$2` is the value */
  const select = async <Row extends IncidentVersion = VersionedIncident>(
    { name, condition, columns = SELECT }: { name: string; condition: string; columns?: string },
    value: number | readonly number[],
  ): Promise<Row[]> => {
    const rows = await query<Row>(db, {
      name,
      text: `${columns} where workspace_id = $1 and ${condition} and ${visible('incidents', 3)}`,
      values: [workspaceId, value, currentViewer()],
    });
    noteRead(rows);
    return rows;
  };
  const rowsOf = async (id: number) => select({ name: 'get-incident', condition: 'id = $2' }, id);
  return {
    /** @throws DomainError `not_found` */
    get: async (id: number): Promise<VersionedIncident> => requireIncident(await rowsOf(id)),

    /** @throws DomainError `not_found` */
    async getVersion(id: number): Promise<IncidentVersion> {
      const columns = 'select id, revision, xmin, restricted from incidents';
      const [version] = await select<IncidentVersion>(
        { name: 'get-incident-version', condition: 'id = $2', columns },
        id,
      );
      if (version === undefined) throw notFound('The incident');
      return version;
    },

    find: async (id: number): Promise<VersionedIncident | undefined> => (await rowsOf(id))[0],

    /** @throws DomainError `not_found` */
    getByNumber: async (number: number): Promise<Incident> =>
      requireIncident(
        await select({ name: 'get-incident-by-number', condition: `number = $2 and ${HAS_NUMBER}` }, number),
      ),

    /** Also one that the request may not see: its external ID is taken. */
    findByExternalId: async (externalId: string): Promise<{ id: number; isVisible: boolean } | undefined> => {
      const [incident] = await query<{ id: number; isVisible: boolean }>(db, {
        name: 'get-incident-by-external-id',
        text: `select id, ${visible('incidents', 3)} as "isVisible" from incidents
          where workspace_id = $1 and external_id = $2`,
        values: [workspaceId, externalId, currentViewer()],
      });
      return incident;
    },

    /** The incidents with these IDs, in any order. */
    readVersioned: async (ids: readonly number[]): Promise<VersionedIncident[]> =>
      select({ name: 'get-incidents', condition: 'id = any((select $2::bigint[])::bigint[])' }, ids),

    /** Locks the incident until the transaction ends. @throws DomainError `not_found` */
    getForUpdate: async (id: number): Promise<Incident> =>
      requireIncident(await query(db, lockIncident(workspaceId, id))),

    /** A part of the name of a channel that is made later; no property that clients see. */
    setShortTitle: async (id: number, shortTitle: string): Promise<void> => {
      await query(db, {
        name: 'set-short-title',
        text: 'update incidents set short_title = $3 where workspace_id = $1 and id = $2',
        values: [workspaceId, id, shortTitle],
      });
    },
  };
}

/**
 * Locks an incident in one round trip, after the configuration that its status and severity are checked against.
 * @throws Retry if the stored configuration has another version
 * @throws DomainError `not_found`
 */
export async function lockWithConfiguration(
  trx: Knex.Transaction,
  { workspaceId, id, configuration }: { workspaceId: number; id: number; configuration: Configuration },
): Promise<Incident> {
  const [locked, incidents] = await pipeline(trx, [lockConfiguration(workspaceId), lockIncident(workspaceId, id)]);
  checkLocked(locked, configuration);
  return requireIncident(incidents);
}

/**
 * Locks several incidents until the transaction ends, in the order of their IDs, and returns them.
 * @param viewer `EVERY_RESTRICTED` for what is changed whoever asks for it
 */
export const lockIncidents = (
  workspaceId: number,
  ids: readonly number[],
  viewer = currentViewer(),
): Statement<Incident> => ({
  name: 'lock-incidents',
  text: `select ${INCIDENT_SELECTION} from incidents
    where workspace_id = $1 and id = any((select $2::bigint[])::bigint[]) and ${visible('incidents', 3)}
    order by incidents.id for update`,
  values: [workspaceId, ids, viewer],
});

/** Writes revision, status and severity of locked incidents. */
export const updateStates = (workspaceId: number, incidents: readonly Incident[]): Statement => ({
  name: 'update-incident-states',
  text: `update incidents set
      revision = state.revision, status = state.status, status_changed_at = state.status_changed_at,
      ended_at = state.ended_at, severity = state.severity, severity_mode = state.severity_mode
    from unnest((select $2::bigint[]), (select $3::bigint[]), (select $4::text[]), (select $5::timestamptz[]),
        (select $6::timestamptz[]), (select $7::text[]), (select $8::text[]))
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
