import { notFound } from '@tocsin/http';
import { type Knex, namesFirst, type PreparedStatement, runPrepared } from '@tocsin/postgres';
import type { Incident } from '../domain/incident.ts';
import { INCIDENT_SELECTION, type IncidentVersion, toColumns } from './incident-row.ts';

const SELECT = `select xmin, ${INCIDENT_SELECTION} from incidents`;

/** No two incidents of a workspace have the same external ID, archived ones included. */
export const EXTERNAL_ID_INDEX = 'incidents_by_external_id';

const named = namesFirst('update-incident');

/** Locks the incident until the transaction ends. Returns it as the only row, or none. */
export const lockIncident = (workspaceId: number, id: number): PreparedStatement => ({
  name: 'get-incident-for-update',
  text: `${SELECT} where workspace_id = $1 and id = $2 for update`,
  values: [workspaceId, id],
});

/** Returns the row of `lockIncident`. @throws DomainError `not_found` */
export function requireIncident(rows: readonly unknown[] | undefined): VersionedIncident {
  const [incident] = (rows ?? []) as VersionedIncident[];
  if (incident === undefined) throw notFound('The incident');
  return incident;
}

/** Updates properties of an incident that the transaction has locked. */
export function updateOfIncident(workspaceId: number, id: number, properties: Partial<Incident>): PreparedStatement {
  const { workspace_id, ...columns } = toColumns({ ...properties, workspaceId });
  const assignments = Object.keys(columns).map((name, index) => `${name} = $${index + 3}`);
  const text = `update incidents set ${assignments.join(', ')} where workspace_id = $1 and id = $2`;
  return named(text, [workspace_id, id, ...Object.values(columns)]);
}

/** With the version in which it was read. */
export type VersionedIncident = Incident & IncidentVersion;

/** Stores the incidents of one workspace, over a pool or a transaction. */
export function incidentStore(db: Knex, workspaceId: number) {
  const rowsOf = async (id: number): Promise<VersionedIncident[]> =>
    runPrepared(db, 'get-incident', `${SELECT} where workspace_id = $1 and id = $2`, [workspaceId, id]);
  const readVersioned = async (ids: readonly number[]): Promise<VersionedIncident[]> =>
    runPrepared(db, 'get-incidents', `${SELECT} where workspace_id = $1 and id = any($2::bigint[])`, [
      workspaceId,
      ids,
    ]);
  return {
    /** @throws DomainError `not_found` */
    get: async (id: number): Promise<VersionedIncident> => requireIncident(await rowsOf(id)),

    /** @throws DomainError `not_found` */
    async getVersion(id: number): Promise<IncidentVersion> {
      const text = 'select id, revision, xmin from incidents where workspace_id = $1 and id = $2';
      const [version] = await runPrepared<IncidentVersion>(db, 'get-incident-version', text, [workspaceId, id]);
      if (version === undefined) throw notFound('The incident');
      return version;
    },

    find: async (id: number): Promise<Incident | undefined> => (await rowsOf(id))[0],

    /** @throws DomainError `not_found` */
    getByNumber: async (number: number): Promise<Incident> =>
      requireIncident(
        await runPrepared(db, 'get-incident-by-number', `${SELECT} where workspace_id = $1 and number = $2`, [
          workspaceId,
          number,
        ]),
      ),

    findByExternalId: async (externalId: string): Promise<Incident | undefined> => {
      const text = `${SELECT} where workspace_id = $1 and external_id = $2`;
      const [incident] = await runPrepared<Incident>(db, 'get-incident-by-external-id', text, [
        workspaceId,
        externalId,
      ]);
      return incident;
    },

    /** The incidents with these IDs, in any order. */
    readVersioned,

    /** Locks the incident until the transaction ends. @throws DomainError `not_found` */
    getForUpdate: async (id: number): Promise<Incident> => {
      const { name, text, values } = lockIncident(workspaceId, id);
      return requireIncident(await runPrepared(db, name, text, [...values]));
    },
  };
}
