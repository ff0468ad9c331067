import { httpClient } from '@tocsin/testing';
import type { Workspace } from '../systems/workspaces.ts';
import type { LoadRequest } from './load.ts';
import type { RunLoad } from './processes.ts';
import type { BenchSystem } from './system.ts';

/** Workspaces with their incidents, by ID. */
export type World = readonly (Workspace & { incidents: readonly number[] })[];

const WORKSPACES = 200;
/** Incidents in each: more than a page. */
export const INCIDENTS = 60;
const CLIENTS = 16;

/** Creates the world by requests, which also warm the processes up: 12,000 creates. */
export async function createWorld(system: BenchSystem, runLoad: RunLoad): Promise<World> {
  const workspaces = await system.createWorkspaces(WORKSPACES);
  const requests = workspaces.map(createRequest);
  await runLoad({ origin: system.origin, clients: CLIENTS, requests, count: WORKSPACES * INCIDENTS });
  await system.drained();
  const world = await withIncidents(system, workspaces);
  const [first] = world;
  // The floor makes copies of it.
  if (first !== undefined)
    await clientOf(system, first).post(`/api/v1/incidents/${first.incidents[0]}/timeline`, EVENT);
  await system.sql.query('analyze');
  return world;
}

export async function withIncidents({ sql }: BenchSystem, workspaces: readonly Workspace[]): Promise<World> {
  const { rows } = await sql.query<{ ids: number[] }>(
    `select array(select id::float8 from incident.incidents where workspace_id = given.id order by id limit ${INCIDENTS}) as ids
     from unnest($1::bigint[]) with ordinality as given (id, nth) order by nth`,
    [workspaces.map(({ id }) => id)],
  );
  return workspaces.map((workspace, index) => ({ ...workspace, incidents: rows[index]?.ids ?? [] }));
}

export const EVENT = { body: 'Somebody looks into it.' };

export const headersOf = ({ host, token }: Workspace) => ({ host, authorization: `Bearer ${token}` });

export const createRequest = (workspace: Workspace): LoadRequest => ({
  method: 'POST',
  path: '/api/v1/incidents',
  headers: headersOf(workspace),
  body: JSON.stringify({ title: 'Checkout is down {n}', service: 'checkout', severity: 'sev2' }),
});

/** For what has to exist before an operation. */
export const clientOf = ({ origin }: BenchSystem, { host, token }: Workspace) =>
  httpClient(origin, { Host: host, Authorization: `Bearer ${token}` });
