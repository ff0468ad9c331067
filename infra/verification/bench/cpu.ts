import { readdir, readFile } from 'node:fs/promises';

/** The name of a group of processes in the report, and their IDs. */
export type ProcessGroups = ReadonlyMap<string, readonly number[]>;
/** Nanoseconds by process ID. */
type CpuTimes = ReadonlyMap<number, number>;

/** Reads the CPU time of processes with all their threads, as the scheduler counts it. */
export async function cpuTimes(groups: ProcessGroups): Promise<CpuTimes> {
  const processes = [...groups.values()].flat();
  return new Map(await Promise.all(processes.map(async (pid) => [pid, await cpuTime(pid)] as const)));
}

async function cpuTime(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const texts = threads.map(async (thread) =>
    readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0'),
  );
  return (await Promise.all(texts)).reduce((sum, text) => sum + Number(text.split(' ')[0]), 0);
}

/** Microseconds of CPU that each group used between two readings. */
export const usedCpu = (groups: ProcessGroups, before: CpuTimes, after: CpuTimes): Map<string, number> => {
  const used = (pid: number) => Math.max(0, (after.get(pid) ?? 0) - (before.get(pid) ?? 0)) / 1_000;
  return new Map([...groups].map(([name, pids]) => [name, pids.reduce((sum, pid) => sum + used(pid), 0)]));
};
