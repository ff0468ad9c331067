import { readFile, writeFile } from 'node:fs/promises';
import { APP_NAMES, type AppName, APPS } from '../../installation/apps.ts';
import { processesWith } from './commands.ts';

/** The IDs of the apps' processes. */
export type Processes = ReadonlyMap<AppName, number>;

/** Returns the running apps of one supervisor that starts each once. */
export async function findProcesses(supervisor: number): Promise<Map<AppName, number>> {
  const replicas = await findReplicas(supervisor);
  return new Map(
    [...replicas].flatMap(([name, pids]) => pids.slice(0, 1).map((pid): [AppName, number] => [name, pid])),
  );
}

/** Returns the processes of each app of one supervisor. */
export async function findReplicas(supervisor: number): Promise<Map<AppName, number[]>> {
  const replicas = new Map<AppName, number[]>();
  for (const [pid, { parent, command }] of await processesWith('src/main.ts')) {
    const name = APP_NAMES.find((app) => command.includes(`${APPS[app].folder}/src/main.ts`));
    if (parent === supervisor && name !== undefined) replicas.set(name, [...(replicas.get(name) ?? []), pid]);
  }
  return replicas;
}

/** The processes that a process has started. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/** The resident memory of a process now and its highest since `resetPeak`, in MiB; `undefined` if it has ended. */
export async function memoryOf(pid: number): Promise<{ now: number; peak: number } | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) / 1024;
  const now = mebibytes('VmRSS');
  return now === 0 ? undefined : { now, peak: mebibytes('VmHWM') };
}

/** Makes the kernel forget the highest memory use of a process. Returns false where that is not allowed. */
export async function resetPeak(pid: number): Promise<boolean> {
  return writeFile(`/proc/${pid}/clear_refs`, '5').then(
    () => true,
    () => false,
  );
}

const ESTABLISHED = '01';
const CLOSE_WAIT = '08';

/** The number of connections that a local server with this port has. */
export async function connectionsOf(port: number): Promise<number> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  let count = 0;
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
    for (const line of lines) {
      const [, address = '', , state = ''] = line.trim().split(/\s+/);
      if (address.endsWith(local) && (state === ESTABLISHED || state === CLOSE_WAIT)) count += 1;
    }
  }
  return count;
}
