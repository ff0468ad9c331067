import { cpuTimes, type ProcessGroups, usedCpu } from './cpu.ts';
import type { Load, LoadRequest } from './load.ts';
import type { RunLoad } from './processes.ts';

/** What is measured in turns with others. */
export interface Target {
  name: string;
  origin: string;
  requests(): Promise<readonly LoadRequest[]>;
  /** The processes that work for a request. */
  groups(): Promise<ProcessGroups>;
  /** Waits for what follows the responses. */
  drained?: (() => Promise<void>) | undefined;
}

/** The medians of several rounds. */
export interface Sample {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Microseconds of CPU for a request, by group of processes, with what follows the responses. */
  cpu: Record<string, number>;
}

type Bounds = Pick<Load, 'clients' | 'rate'> & { seconds: number };

/** Measures in turns, so that all get the same moods of the machine. Returns samples by the names of the targets. */
export async function measureInTurns(
  runLoad: RunLoad,
  targets: readonly Target[],
  { clients, rounds, seconds, rate }: Bounds & { rounds: number },
): Promise<Record<string, Sample>> {
  const samples = targets.map((): Sample[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, target] of targets.entries())
      samples[index]?.push(await measure(runLoad, target, { clients, seconds, rate }));
  return Object.fromEntries(targets.map(({ name }, index) => [name, medianOf(samples[index] ?? [])]));
}

async function measure(
  runLoad: RunLoad,
  { origin, requests, groups, drained }: Target,
  bounds: Bounds,
): Promise<Sample> {
  const load = { origin, requests: await requests(), ...bounds };
  const processes = await groups();
  const before = await cpuTimes(processes);
  const { requests: count, seconds, p50, p99 } = await runLoad(load);
  await drained?.();
  const used = usedCpu(processes, before, await cpuTimes(processes));
  const cpu = Object.fromEntries([...used].map(([name, microseconds]) => [name, microseconds / count]));
  return { perSecond: count / seconds, p50, p99, cpu };
}

export const total = (cpu: Readonly<Record<string, number>>): number =>
  Object.values(cpu).reduce((sum, used) => sum + used, 0);

/** The median of what a function takes of each. */
export function medianBy<Value>(values: readonly Value[], numberOf: (value: Value) => number): number {
  const sorted = values.map(numberOf).toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

function medianOf(samples: readonly Sample[]): Sample {
  const median = (numberOf: (sample: Sample) => number) => medianBy(samples, numberOf);
  return {
    perSecond: median(({ perSecond }) => perSecond),
    p50: median(({ p50 }) => p50),
    p99: median(({ p99 }) => p99),
    cpu: Object.fromEntries(
      Object.keys(samples[0]?.cpu ?? {}).map((name) => [name, median(({ cpu }) => cpu[name] ?? 0)]),
    ),
  };
}
