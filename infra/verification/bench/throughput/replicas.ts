import { CASES } from './cases.ts';
import { startFloor } from './floor-process.ts';
import type { LoadProcess } from './load-process.ts';
import { runCase } from './run-case.ts';
import { startSystem } from './system.ts';
import { createWorld } from './world.ts';

/** Requests a second with so many processes of each app. */
export interface ReplicaResult {
  replicas: number;
  /** Tocsin's, and its ratio to the floor, by operation. */
  cases: { name: string; perSecond: number; ratio: number }[];
}

const REPLICAS = [1, 2, 4] as const;
const MEASURED = ['get', 'list of 50', 'create'];
const CLIENTS = 16;

export async function measureReplicas(options: {
  load: LoadProcess;
  rounds: number;
  seconds: number;
  print: (line: string) => void;
}): Promise<ReplicaResult[]> {
  const { load, rounds, seconds, print } = options;
  const results: ReplicaResult[] = [];
  for (const replicas of REPLICAS) {
    await using started = new AsyncDisposableStack();
    const system = await startSystem({ replicas });
    started.defer(system.stop);
    const world = await createWorld(system, load, []);
    const floor = await startFloor(system.databaseUrl);
    started.defer(floor.stop);
    const cases: ReplicaResult['cases'] = [];
    for (const benchCase of CASES.filter(({ name }) => MEASURED.includes(name))) {
      const options = { clients: CLIENTS, rounds, seconds };
      const { name, tocsin, ratio } = await runCase({ system, load, world, floor }, benchCase, options);
      cases.push({ name, perSecond: tocsin.perSecond, ratio });
    }
    results.push({ replicas, cases });
    print(`${replicas} of each app measured`);
  }
  return results;
}
