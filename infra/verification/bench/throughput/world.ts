import type { Workspace } from '../../systems/workspaces.ts';
import type { LoadProcess } from './load-process.ts';
import { type BenchSystem, clientOf } from './system.ts';

/** What the requests of the bench are about. */
export interface World {
  /** 200 workspaces, each with incidents. */
  workspaces: readonly (Workspace & { incidents: readonly number[] })[];
  /** Each with three custom fields. */
  withFields: readonly (Workspace & { fields: readonly number[] })[];
  /** Each with a verified subscription. */
  withWebhooks: readonly Workspace[];
}

const WORKSPACES = 200;
/** Incidents in each workspace: a full page. */
const INCIDENTS = 60;
const WITH_FIELDS = 20;
/** One for each address of a receiver: the limits of one address would slow the deliveries. */
const CLIENTS = 16;

/** Creates the world by requests, which also warm the processes up: 12,000 creates. */
export async function createWorld(
  system: BenchSystem,
  load: LoadProcess,
  receivers: readonly string[],
): Promise<World> {
  const workspaces = await system.createWorkspaces(WORKSPACES);
  await load.run({
    addresses: system.addresses,
    clients: CLIENTS,
    requests: workspaces.map((workspace) => createRequest(workspace)),
    seconds: Number.MAX_SAFE_INTEGER,
    count: WORKSPACES * INCIDENTS,
  });
  await system.drained();
  const { rows } = await system.sql.query<{ workspace_id: number; ids: number[] }>(
    `select workspace_id::int, array_agg(id::int order by id) as ids from incident.incidents group by workspace_id`,
  );
  const idsOf = new Map(rows.map(({ workspace_id, ids }) => [workspace_id, ids]));

  const withFields = await system.createWorkspaces(WITH_FIELDS);
  const fields: number[][] = [];
  for (const workspace of withFields) {
    const client = clientOf(system, workspace);
    const own: number[] = [];
    for (const name of ['Customer', 'Region', 'Cause']) {
      const { text } = await client.post('/api/v1/custom-fields', { name, field_type: 'string' });
      own.push((JSON.parse(text) as { field: { id: number } }).field.id);
    }
    fields.push(own);
  }

  const withWebhooks = await system.createWorkspaces(receivers.length);
  for (const [index, workspace] of withWebhooks.entries()) {
    const client = clientOf(system, workspace);
    const { text } = await client.post('/api/v1/settings/webhooks', { url: receivers[index] });
    const { id } = (JSON.parse(text) as { webhook: { id: string } }).webhook;
    const verified = await client.post(`/api/v1/settings/webhooks/${id}/verify`);
    if (verified.status !== 200) throw new Error(`a receiver cannot be verified: ${verified.text}`);
  }
  // One event in the timeline, of which the floor makes copies.
  const [first] = workspaces;
  const incident = first === undefined ? undefined : idsOf.get(first.id)?.[0];
  if (first === undefined || incident === undefined) throw new Error('there are no incidents');
  await clientOf(system, first).post(`/api/v1/incidents/${incident}/timeline`, { body: 'Somebody looks into it.' });
  await system.sql.query('analyze');
  return {
    workspaces: workspaces.map((workspace) => ({ ...workspace, incidents: idsOf.get(workspace.id) ?? [] })),
    withFields: withFields.map((workspace, index) => ({ ...workspace, fields: fields[index] ?? [] })),
    withWebhooks,
  };
}

export const headersOf = ({ host, token }: Workspace): string[] => [`Host: ${host}`, `Authorization: Bearer ${token}`];

/** @param more properties of the body; `headers` besides those that every request has */
export const createRequest = (
  workspace: Workspace,
  { headers = [], ...more }: Record<string, unknown> & { headers?: string[] } = {},
) => ({
  method: 'POST' as const,
  path: '/api/v1/incidents',
  headers: [...headersOf(workspace), ...headers],
  body: JSON.stringify({ title: 'Checkout is down {n}', service: 'checkout', severity: 'sev2', ...more }),
});
