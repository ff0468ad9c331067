import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The signals to send in order, and the milliseconds to wait after each. */
const SIGNALS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 1_000],
] as const;

/**
 * Stops a server that outlived the process that started it, and removes the PID file of a server that is gone: its
 * process ID may belong to another process by now, which would keep a new server from starting. The caller holds the
 * data folder.
 */
export async function stopOrphan(cluster: string): Promise<void> {
  const pidFile = path.join(cluster, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n', 1)[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  for (const [signal, timeout] of SIGNALS) {
    if (!(await isServerOf(cluster, pid))) break;
    process.kill(pid, signal);
    const deadline = Date.now() + timeout;
    while (Date.now() < deadline && (await isServerOf(cluster, pid))) await delay(50);
  }
  if (!(await isServerOf(cluster, pid))) await rm(pidFile, { force: true });
}

async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  const words = await commandOf(pid);
  return words.includes('postgres') && words.includes(cluster);
}

/** The command line of a process; empty when there is no such process. */
async function commandOf(pid: number): Promise<string> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  } catch {
    return run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
      ({ stdout }) => stdout,
      () => '',
    );
  }
}
