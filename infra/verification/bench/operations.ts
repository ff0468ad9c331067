import type { LoadRequest } from './load.ts';
import type { BenchSystem } from './system.ts';
import { createRequest, EVENT, headersOf, type World } from './world.ts';

/** An operation that is measured, beside the same statements without Tocsin. */
export interface Operation {
  name: string;
  requests(world: World, system: BenchSystem): Promise<LoadRequest[]>;
  /** The path of the floor's. */
  floor: string;
  /** Events follow: the processes are measured until the queues are empty. */
  hasTail: boolean;
}

/** A request for some incidents of every workspace. */
const forIncidents = (
  world: World,
  range: readonly [from: number, to: number],
  request: (incident: number) => Omit<LoadRequest, 'headers'>,
): LoadRequest[] =>
  world.flatMap((workspace) =>
    workspace.incidents.slice(...range).map((id) => ({ headers: headersOf(workspace), ...request(id) })),
  );

const read = (name: string, floor: string, pathOf: (incident: number) => string): Operation => ({
  ...{ name, floor, hasTail: false },
  requests: async (world) => forIncidents(world, [0, 10], (incident) => ({ method: 'GET', path: pathOf(incident) })),
});

export const OPERATIONS: readonly Operation[] = [
  read('get', '/get', (incident) => `/api/v1/incidents/${incident}`),
  read('list of 50', '/list', () => '/api/v1/incidents'),
  read('filtered list', '/filtered', () => '/api/v1/incidents?status=open&severity=sev2'),
  read('timeline list', '/timeline-list', (incident) => `/api/v1/incidents/${incident}/timeline`),
  {
    ...{ name: 'timeline add', floor: '/timeline-add', hasTail: true },
    requests: async (world) =>
      forIncidents(world, [0, 1], (incident) => ({
        method: 'POST',
        path: `/api/v1/incidents/${incident}/timeline`,
        body: JSON.stringify(EVENT),
      })),
  },
  {
    ...{ name: 'PATCH', floor: '/patch', hasTail: true },
    // Of incidents whose revision nothing else changes.
    requests: async (world, { sql }) => {
      const { rows } = await sql.query<{ id: number; revision: number }>(
        `select id::float8, revision::int from unnest($1::bigint[], $2::bigint[]) as given (workspace, incident)
         join incident.incidents on workspace_id = workspace and id = incident`,
        [world.map(({ id }) => id), world.map(({ incidents }) => incidents[20])],
      );
      const revisions = new Map(rows.map(({ id, revision }) => [id, revision]));
      return forIncidents(world, [20, 21], (incident) => ({
        method: 'PATCH',
        path: `/api/v1/incidents/${incident}`,
        body: '{"title":"Checkout is slow {n}"}',
        revision: revisions.get(incident) ?? 1,
      }));
    },
  },
  { name: 'create', floor: '/create', hasTail: true, requests: async (world) => world.map(createRequest) },
];

/** A search that reads all it may. */
export const IN_VAIN = 'search in vain';

/** Measured as an installation grows, too. */
export const SEARCHES: readonly Operation[] = [
  read('search', '', () => '/api/v1/incidents?q=checkout'),
  read(IN_VAIN, '', () => '/api/v1/incidents?q=nothing'),
  read('statistics', '', () => '/api/v1/incidents/statistics'),
  read('similar', '', () => '/api/v1/incidents/similar?title=Checkout%20answers%20slowly&service=checkout'),
];

/** The same for the floor, which gets the IDs, and a body as long as that of the operation. */
export async function floorRequests(
  world: World,
  { floor, requests }: Operation,
  system: BenchSystem,
): Promise<LoadRequest[]> {
  const [{ method, body }] = (await requests(world, system)) as [LoadRequest];
  return world.flatMap(({ id, incidents }) =>
    incidents.slice(0, 10).map((incident): LoadRequest => ({
      ...{ method, path: `${floor}?workspace=${id}&incident=${incident}`, headers: { host: 'floor' } },
      ...(body !== undefined && { body }),
    })),
  );
}
