import type { Workspace } from '../../systems/workspaces.ts';
import { administration, openGatewayDatabase } from '../../../../gateway/src/administration.ts';
import { SCOPES } from '@tocsin/contracts';
import { withDatabase } from '../../../databases.ts';
import { migrateConfig } from '../../../migrate/config.ts';
import { seed } from '../../seed/seed.ts';
import { cpuTimes, usedCpu } from './cpu.ts';
import type { LoadProcess } from './load-process.ts';
import type { BenchRequest } from './messages.ts';
import { total } from './run-case.ts';
import { type BenchSystem, startSystem } from './system.ts';
import { createRequest, headersOf } from './world.ts';

/** Microseconds of CPU for a request, of all processes, by the number of incidents in the database. */
export interface Growth {
  incidents: number;
  cpu: { get: number; list: number; create: number };
}

const SIZES = [10_000, 100_000, 1_000_000] as const;
const WORKSPACES = 20;
const CLIENTS = 16;

export async function measureGrowth(options: {
  load: LoadProcess;
  seconds: number;
  print: (line: string) => void;
}): Promise<Growth[]> {
  const results: Growth[] = [];
  for (const incidents of SIZES) {
    const system = await startSystem();
    try {
      options.print(`seeding ${incidents} incidents`);
      await seed(migrateConfig(system.env), { incidents, workspaces: WORKSPACES }, () => undefined);
      const workspaces = await keysOf(system);
      const measure = async (requests: BenchRequest[]) => measureCpu(system, { ...options, requests });
      const ids = await incidentsOf(system, workspaces);
      const get = ids.map(({ workspace, id }): BenchRequest => ({
        method: 'GET',
        path: `/api/v1/incidents/${id}`,
        headers: headersOf(workspace),
      }));
      const list = workspaces.map((workspace): BenchRequest => ({
        method: 'GET',
        path: '/api/v1/incidents',
        headers: headersOf(workspace),
      }));
      const create = workspaces.map((workspace) => createRequest(workspace));
      results.push({
        incidents,
        cpu: { get: await measure(get), list: await measure(list), create: await measure(create) },
      });
    } finally {
      await system.stop();
    }
  }
  return results;
}

/** Creates keys for the users that the seed has made. */
const keysOf = async ({ env }: BenchSystem): Promise<Workspace[]> =>
  withDatabase(openGatewayDatabase(env), async (database) => {
    const admin = administration(database);
    const workspaces: Workspace[] = [];
    for (const { id, slug } of await admin.listWorkspaces()) {
      const [user] = await admin.listUsers(slug);
      if (user === undefined) throw new Error(`the workspace ${slug} has no users`);
      const { token } = await admin.createKey({ workspace: slug, user: user.email, name: 'bench', scopes: SCOPES });
      workspaces.push({ id, host: `${slug}.localhost`, token });
    }
    return workspaces;
  });

const IDS = 50;

async function incidentsOf(
  { sql }: BenchSystem,
  workspaces: readonly Workspace[],
): Promise<{ workspace: Workspace; id: number }[]> {
  const found: { workspace: Workspace; id: number }[] = [];
  for (const workspace of workspaces) {
    const { rows } = await sql.query<{ id: number }>(
      'select id::int from incident.incidents where workspace_id = $1 order by random() limit $2',
      [workspace.id, IDS],
    );
    for (const { id } of rows) found.push({ workspace, id });
  }
  return found;
}

async function measureCpu(
  system: BenchSystem,
  { load, requests, seconds }: { load: LoadProcess; requests: BenchRequest[]; seconds: number },
): Promise<number> {
  const run = async () => load.run({ addresses: system.addresses, clients: CLIENTS, requests, seconds });
  // Once without measuring, for caches and plans.
  await run();
  await system.drained();
  const groups = await system.groups();
  const processes = [...groups.values()].flat();
  const before = await cpuTimes(processes);
  const { requests: count } = await run();
  await system.drained();
  return total(Object.fromEntries(usedCpu(groups, before, await cpuTimes(processes)))) / count;
}
