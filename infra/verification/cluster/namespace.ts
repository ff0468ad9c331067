import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Processes that have a network, process IDs, mounts and a host name of their own. They end with this process at the
 * latest.
 */
export interface Namespace {
  readonly pid: number;
  /** Kills all processes, and removes what they had. */
  end(): Promise<void>;
}

const SEPARATE = ['--net', '--pid', '--mount', '--uts'];

/**
 * @param script of Bash, which prepares it and gets the arguments
 * @throws Error without the right to do that
 */
export async function startNamespace(script: string, ...args: string[]): Promise<Namespace> {
  // Before /proc is mounted, it shows the process IDs of this process. In the end Bash waits, because its first process has
  // to reap those that lost their parents: Patroni waits for the end of a PostgreSQL that was its grandchild.
  const begin = 'set -e; read -r pid _ </proc/self/stat; mount -t proc proc /proc; ip link set lo up';
  const child = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', 'unshare', ...SEPARATE, '--fork', '--kill-child'],
      ...['bash', '-c', `${begin}; ${script}; echo "$pid"; sleep infinity & wait`, 'bash', ...args],
    ],
    { detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const exited = once(child, 'exit');
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), exited])) as [unknown];
  if (typeof line !== 'string') throw new Error('cannot make network namespaces');
  const pid = Number(line);
  return {
    pid,
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(pid, 'SIGKILL');
      await exited;
    },
  };
}

/** The arguments of `nsenter` that run a command in the namespace, as a user. */
export const enter = ({ pid }: Namespace, { uid, gid } = { uid: 0, gid: 0 }): string[] => [
  '-t',
  String(pid),
  '-n',
  '-p',
  '-m',
  '-u',
  '-S',
  String(uid),
  '-G',
  String(gid),
  '--',
];

/** Runs a script of the shell, in a namespace if one is given. */
export async function shell(script: string, space?: Namespace): Promise<void> {
  const command = ['sh', '-ec', script];
  await (space === undefined ? run('sh', command.slice(1)) : run('nsenter', [...enter(space), ...command]));
}

/** Sends a signal to all processes of a namespace. */
export async function signalAll(space: Namespace, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const idOf = async (pid: string) => readlink(`/proc/${pid}/ns/pid`).catch(() => undefined);
  const id = await idOf(String(space.pid));
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const ids = await Promise.all(pids.map(idOf));
  for (const pid of pids.filter((_, index) => ids[index] === id)) {
    try {
      process.kill(Number(pid), signal);
    } catch {
      // It has ended.
    }
  }
}
