import type { BenchRequest } from './messages.ts';
import { createRequest, headersOf, type World } from './world.ts';

/** An operation that is measured, beside the same statements without Tocsin. */
export interface BenchCase {
  name: string;
  requests: (world: World) => BenchRequest[];
  floor: (world: World) => BenchRequest[];
  /** Events follow: the processes are measured until the queues are empty. */
  hasTail: boolean;
}

type Workspaces = World['workspaces'];

/** Requests of every workspace, for each of some of its incidents. */
const forIncidents = (
  workspaces: Workspaces,
  count: number,
  request: (workspace: Workspaces[number], incident: number) => BenchRequest,
): BenchRequest[] =>
  Array.from({ length: count }).flatMap((_, index) =>
    workspaces.flatMap((workspace) => {
      const incident = workspace.incidents[index];
      return incident === undefined ? [] : [request(workspace, incident)];
    }),
  );

const floor =
  (
    path: string,
    select: (world: World) => readonly { id: number; incidents?: readonly number[] }[],
    perWorkspace = 1,
  ) =>
  (world: World): BenchRequest[] =>
    Array.from({ length: perWorkspace }).flatMap((_, index) =>
      select(world).map((workspace) => ({
        method: 'GET',
        path: `${path}?workspace=${workspace.id}&incident=${workspace.incidents?.[index] ?? 0}`,
        headers: ['Host: floor'],
      })),
    );

const all = (world: World) => world.workspaces;
/** One workspace, so often that every client has a request. */
const MOST_CLIENTS = 64;
const one = (world: World) =>
  Array.from({ length: MOST_CLIENTS }, () => world.workspaces[0]).filter((found) => !!found);
const times = <Item>(items: readonly Item[]): Item[] =>
  Array.from({ length: Math.ceil(MOST_CLIENTS / items.length) }).flatMap(() => items);

const read = (name: string, path: (incident: number) => string, floorPath: string): BenchCase => ({
  name,
  hasTail: false,
  requests: ({ workspaces }) =>
    forIncidents(workspaces, 10, (workspace, incident) => ({
      method: 'GET',
      path: path(incident),
      headers: headersOf(workspace),
    })),
  floor: floor(floorPath, all, 10),
});

const create = (
  name: string,
  requests: BenchCase['requests'],
  select: Parameters<typeof floor>[1] = all,
): BenchCase => ({
  name,
  hasTail: true,
  requests,
  floor: floor('/create', select),
});

export const CASES: readonly BenchCase[] = [
  read('get', (incident) => `/api/v1/incidents/${incident}`, '/get'),
  read('list of 50', () => '/api/v1/incidents', '/list'),
  read('filtered list', () => '/api/v1/incidents?status=open&severity=sev2', '/filtered'),
  read('timeline list', (incident) => `/api/v1/incidents/${incident}/timeline`, '/timeline-list'),
  {
    name: 'timeline add',
    hasTail: true,
    requests: ({ workspaces }) =>
      forIncidents(workspaces, 1, (workspace, incident) => ({
        method: 'POST',
        path: `/api/v1/incidents/${incident}/timeline`,
        headers: headersOf(workspace),
        body: '{"body":"Somebody looks into it, {n}."}',
      })),
    floor: floor('/timeline-add', all),
  },
  {
    name: 'PATCH',
    hasTail: true,
    // The incidents whose revision nothing else changes.
    requests: ({ workspaces }) =>
      forIncidents(
        workspaces.map((workspace) => ({ ...workspace, incidents: workspace.incidents.slice(20) })),
        1,
        (workspace, incident) => ({
          method: 'PATCH',
          path: `/api/v1/incidents/${incident}`,
          headers: [...headersOf(workspace), 'If-Service-Resource-Version: {revision}'],
          body: '{"title":"Checkout is slow {n}"}',
          revision: 1,
        }),
      ),
    floor: floor('/patch', all),
  },
  create('create', ({ workspaces }) => workspaces.map((workspace) => createRequest(workspace))),
  create('create, one workspace', (world) => one(world).map((workspace) => createRequest(workspace)), one),
  create('create with a key', ({ workspaces }) =>
    workspaces.map((workspace) => createRequest(workspace, { headers: ['Idempotency-Key: bench-{n}'] })),
  ),
  create(
    'create with three values',
    ({ withFields }) =>
      times(withFields).map((workspace) =>
        createRequest(workspace, {
          custom_field_values: workspace.fields.map((field_id) => ({ field_id, value: 'value {n}' })),
        }),
      ),
    ({ withFields }) => times(withFields),
  ),
  create(
    'create with a webhook',
    ({ withWebhooks }) => times(withWebhooks).map((workspace) => createRequest(workspace)),
    ({ withWebhooks }) => times(withWebhooks),
  ),
];
