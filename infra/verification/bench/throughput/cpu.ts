import { readdir, readFile } from 'node:fs/promises';

/** CPU time in nanoseconds by process ID. */
export type CpuTimes = ReadonlyMap<number, number>;

/** Reads the CPU time of processes with all their threads, as the scheduler counts it. */
export async function cpuTimes(processes: Iterable<number>): Promise<CpuTimes> {
  return new Map(
    await Promise.all([...processes].map(async (pid): Promise<[number, number]> => [pid, await cpuTime(pid)])),
  );
}

async function cpuTime(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const times = await Promise.all(
    threads.map(async (thread) => {
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
      return Number(text.split(' ')[0]);
    }),
  );
  return times.reduce((sum, time) => sum + time, 0);
}

/** The name of a group of processes in the report, and their IDs. */
export type ProcessGroups = ReadonlyMap<string, readonly number[]>;

/** Microseconds of CPU that each group used between two readings. */
export function usedCpu(groups: ProcessGroups, before: CpuTimes, after: CpuTimes): Map<string, number> {
  const used = (pid: number) => Math.max(0, (after.get(pid) ?? 0) - (before.get(pid) ?? 0)) / 1_000;
  return new Map(
    [...groups].map(([name, processes]): [string, number] => [
      name,
      processes.reduce((sum, pid) => sum + used(pid), 0),
    ]),
  );
}
