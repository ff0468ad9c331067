import { copyIncident } from '../statements/copy-rows.ts';
import { measureInTurns, total } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import type { RunLoad } from './processes.ts';
import { startSystem } from './system.ts';
import { createRequest, withIncidents } from './world.ts';

/** Microseconds of CPU for a request, of all processes, by the number of incidents in the database. */
export type Growth = Awaited<ReturnType<typeof measureGrowth>>[number];

const SIZES = [10_000, 100_000, 1_000_000];
const WORKSPACES = 20;
const MEASURED = ['get', 'list of 50', 'create'];

/** Measures databases that have copies of one incident of each workspace. */
export async function measureGrowth(
  runLoad: RunLoad,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<{ incidents: number; cpu: Record<string, number> }[]> {
  return Array.fromAsync(SIZES, async (incidents) => {
    const system = await startSystem();
    try {
      const { origin, groups, drained, sql } = system;
      const workspaces = await system.createWorkspaces(WORKSPACES);
      await runLoad({ origin, clients: 1, requests: workspaces.map(createRequest), count: WORKSPACES });
      for (const { id: workspace, incidents: incidentIds } of await withIncidents(system, workspaces))
        for (const id of incidentIds) await copyIncident(sql, workspace, { id, count: incidents / WORKSPACES - 1 });
      await sql.query('vacuum analyze');
      const world = await withIncidents(system, workspaces);
      const targets = OPERATIONS.filter(({ name }) => MEASURED.includes(name)).map(({ name, requests }) => ({
        ...{ name, origin, groups, drained },
        requests: async () => requests(world, system),
      }));
      const samples = await measureInTurns(runLoad, targets, { clients: 16, rounds, seconds });
      return {
        incidents,
        cpu: Object.fromEntries(Object.entries(samples).map(([name, { cpu }]) => [name, total(cpu)])),
      };
    } finally {
      await system.stop();
    }
  });
}
