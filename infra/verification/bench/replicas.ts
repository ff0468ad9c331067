import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { medianBy } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import type { RunLoad } from './processes.ts';
import { startSystem } from './system.ts';
import { createWorld } from './world.ts';

const COUNTS = [1, 2, 4];
const MEASURED = ['get', 'PATCH', 'create'];
/** Clients for each gateway: more than its processor can serve. */
const CLIENTS = 16;
/** Requests of each kind for each process before anything is measured. */
const WARM_UP = 2_000;
const CGROUPS = '/sys/fs/cgroup';
/** Microseconds; short, so that a process stands still for less than a request of a busy one takes. */
const PERIOD = 20_000;

/** Requests a second by operation and number of processes of each app, and the events of a second that came to the feed. */
export type ReplicaResults = { percent: number; operations: Record<string, Record<number, number>> };

/**
 * Measures several processes of each app as if each were on a small machine of its own: it gets a part of a core, and the
 * engines get all that is left. Needs root and control groups.
 */
export async function measureReplicas(
  runLoad: RunLoad,
  options: { percent: number; rounds: number; seconds: number },
): Promise<ReplicaResults> {
  const operations: ReplicaResults['operations'] = {};
  for (const count of COUNTS) {
    await using started = new AsyncDisposableStack();
    const bounds: string[] = [];
    // After the processes have ended.
    started.defer(async () => Promise.all(bounds.map(async (group) => rmdir(group))).then(() => undefined));
    const system = await startSystem({ replicas: count });
    started.defer(system.stop);
    const world = await createWorld(system, runLoad);
    const load = { origin: system.origin, origins: system.origins, clients: CLIENTS * count };
    const measured = OPERATIONS.filter(({ name }) => MEASURED.includes(name));
    for (const { requests } of measured)
      await runLoad({ ...load, requests: await requests(world, system), count: WARM_UP * count });
    await system.drained();
    for (const pid of await system.pids()) bounds.push(await limitCpu(pid, options.percent / 100));
    for (const { name, requests, hasTail } of measured) {
      const rates: { answered: number; drained: number }[] = [];
      for (let round = 0; round < options.rounds; round += 1) {
        const start = performance.now();
        const result = await runLoad({ ...load, requests: await requests(world, system), seconds: options.seconds });
        if (hasTail) await system.drained();
        const seconds = (performance.now() - start) / 1_000;
        rates.push({ answered: result.requests / result.seconds, drained: result.requests / seconds });
      }
      (operations[name] ??= {})[count] = medianBy(rates, ({ answered }) => answered);
      if (hasTail) (operations[`${name}, with its tail`] ??= {})[count] = medianBy(rates, ({ drained }) => drained);
    }
    console.error(`${count} of each: ${JSON.stringify(operations)}`);
  }
  return { percent: options.percent, operations };
}

/** Bounds the processor time of a process. Returns the control group, to remove it when the process has ended. */
async function limitCpu(pid: number, cores: number): Promise<string> {
  const quota = Math.round(PERIOD * cores);
  const hasOwnTree = existsSync(path.join(CGROUPS, 'cpu/cpu.cfs_quota_us'));
  const group = path.join(CGROUPS, ...(hasOwnTree ? ['cpu'] : []), `tocsin-bench-${pid}`);
  await mkdir(group);
  const write = async (file: string, value: string) => writeFile(path.join(group, file), value);
  if (hasOwnTree) {
    await write('cpu.cfs_period_us', String(PERIOD));
    await write('cpu.cfs_quota_us', String(quota));
  } else await write('cpu.max', `${quota} ${PERIOD}`);
  await write('cgroup.procs', String(pid));
  return group;
}
