import { notFound } from '@tocsin/http';
import { type Listed, readWhole } from '@tocsin/resources';
import { type Knex, runPrepared } from '@tocsin/runtime';
import type { Incident } from '../domain/incident.ts';
import { INCIDENT_COLUMNS, type IncidentRow, toColumns, toIncident } from './incident-row.ts';

const SELECT = `select ${INCIDENT_COLUMNS.join(', ')} from incidents`;

/** Stores the incidents of one workspace, over a pool or a transaction. */
export function incidentStore(db: Knex, workspaceId: number) {
  const one = (rows: IncidentRow[]): Incident => {
    const [row] = rows;
    if (row === undefined) throw notFound('The incident');
    return toIncident(row);
  };
  const rowsOf = async (id: number): Promise<IncidentRow[]> =>
    runPrepared(db, 'get-incident', `${SELECT} where workspace_id = $1 and id = $2`, [workspaceId, id]);
  return {
    /** @throws DomainError `not_found` */
    get: async (id: number): Promise<Incident> => one(await rowsOf(id)),

    async find(id: number): Promise<Incident | undefined> {
      const [row] = await rowsOf(id);
      return row && toIncident(row);
    },

    /** @throws DomainError `not_found` */
    getByNumber: async (number: number): Promise<Incident> =>
      one(
        await runPrepared(db, 'get-incident-by-number', `${SELECT} where workspace_id = $1 and number = $2`, [
          workspaceId,
          number,
        ]),
      ),

    /** The incidents of a list with all their properties, a few at a time. */
    readWhole: (listed: readonly Listed<Incident>[]) =>
      readWhole(listed, async (ids) => {
        const rows = await db('incidents')
          .where({ workspace_id: workspaceId })
          .whereIn('id', ids)
          .select<IncidentRow[]>(INCIDENT_COLUMNS);
        return rows.map(toIncident);
      }),

    /** Locks the incident until the transaction ends. @throws DomainError `not_found` */
    getForUpdate: async (id: number): Promise<Incident> =>
      one(
        await runPrepared(db, 'get-incident-for-update', `${SELECT} where workspace_id = $1 and id = $2 for update`, [
          workspaceId,
          id,
        ]),
      ),

    /** Updates properties of an incident that this transaction has locked. */
    async update(id: number, properties: Partial<Incident>): Promise<void> {
      await db('incidents')
        .where({ workspace_id: workspaceId, id })
        .update(toColumns({ ...properties, workspaceId }));
    },
  };
}
