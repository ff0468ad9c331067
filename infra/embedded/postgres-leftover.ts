import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The more forceful, the shorter we wait for it to help; milliseconds. */
const ENDINGS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 1_000],
] as const;

/**
 * Ends a server that outlived the process that had started it, and clears away the note of one that is gone: its process
 * ID may be another's by now, which would keep a new server from starting. Whoever calls holds the data folder.
 */
export async function endLeftover(cluster: string): Promise<void> {
  const note = path.join(cluster, 'postmaster.pid');
  const pid = Number((await readFile(note, 'utf8').catch(() => '')).split('\n', 1)[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  for (const [signal, patience] of ENDINGS) {
    if (!(await isServerOf(cluster, pid))) break;
    process.kill(pid, signal);
    const deadline = Date.now() + patience;
    while (Date.now() < deadline && (await isServerOf(cluster, pid))) await delay(50);
  }
  if (!(await isServerOf(cluster, pid))) await rm(note, { force: true });
}

async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  const words = await commandOf(pid);
  return words.includes('postgres') && words.includes(cluster);
}

/** The command line of a process; empty when there is none. */
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
