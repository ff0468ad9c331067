import { asWorld, type Filled, startFilled, zipfSizes } from './growth-data.ts';
import { measureTasks, type Tasks } from './growth-tasks.ts';
import { measureInTurns, total } from './measure.ts';
import { IN_VAIN, OPERATIONS, SEARCHES } from './operations.ts';
import type { RunLoad } from './processes.ts';

const SMALL = { workspaces: 10, incidents: 1_000 };
/** Few, because each search in vain keeps a core busy for long. */
const CLIENTS = 4;
/** Creates come last: they add incidents to the workspaces. */
const MEASURED = [...SEARCHES, ...OPERATIONS];
/** Requests of each kind before anything is measured, in each installation. */
const WARM_UP = 1_000;

/** A small installation beside a large one, and three workspaces of the latter. */
export interface Growth {
  workspaces: number;
  incidents: number;
  /** Incidents of the measured workspaces, by their names. */
  sizes: Record<string, number>;
  /** Microseconds of CPU for a request, of the apps and their sessions in PostgreSQL, by operation and workspace. */
  cpu: Record<string, Record<string, number>>;
  tasks: { small: Tasks; large: Tasks };
}

/** Measures a large installation in turns with one of ten workspaces with a thousand incidents each. */
export async function measureGrowth(
  runLoad: RunLoad,
  options: { workspaces: number; incidents: number; rounds: number; seconds: number },
): Promise<Growth> {
  await using started = new AsyncDisposableStack();
  const start = async (sizes: readonly number[]) => {
    const filled = await startFilled(sizes);
    started.defer(filled.stop);
    return { filled, tasks: await measureTasks(filled, runLoad) };
  };
  const sizes = zipfSizes(options.workspaces, options.incidents);
  const small = await start(Array.from({ length: SMALL.workspaces }, () => SMALL.incidents));
  const large = await start(sizes);
  const measured = new Map<string, [filled: Filled, index: number]>([
    ['small installation', [small.filled, 0]],
    ['smallest', [large.filled, sizes.length - 1]],
    ['middle', [large.filled, Math.floor(sizes.length / 2)]],
    ['biggest', [large.filled, 0]],
  ]);
  const cpu: Growth['cpu'] = {};
  for (const { filled } of [small, large])
    for (const { requests } of MEASURED.filter(({ name }) => name !== IN_VAIN)) {
      const { system, workspace } = filled;
      const world = await asWorld(filled, workspace(1), CLIENTS);
      await runLoad({
        ...{ origin: system.origin, clients: CLIENTS, count: WARM_UP },
        requests: await requests(world, system),
      });
    }
  for (const { name, requests, hasTail } of MEASURED) {
    const targets = [...measured].map(([target, [filled, index]]) => ({
      ...{ name: target, origin: filled.system.origin, drained: hasTail ? filled.system.drained : undefined },
      // RabbitMQ and Redis work for both installations.
      groups: async () =>
        new Map([...(await filled.system.groups())].filter(([group]) => group !== 'RabbitMQ' && group !== 'Redis')),
      requests: async () => requests(await asWorld(filled, filled.workspace(index), CLIENTS), filled.system),
    }));
    const samples = await measureInTurns(runLoad, targets, { ...options, clients: CLIENTS });
    cpu[name] = Object.fromEntries(Object.entries(samples).map(([target, sample]) => [target, total(sample.cpu)]));
    console.error(name, cpu[name]);
  }
  return {
    ...{ workspaces: sizes.length, incidents: sizes.reduce((sum, size) => sum + size, 0), cpu },
    sizes: Object.fromEntries([...measured].map(([name, [filled, index]]) => [name, filled.sizes[index] ?? 0])),
    tasks: { small: small.tasks, large: large.tasks },
  };
}
