import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { App, Environment, ReadyMessage } from '@tocsin/runtime';
import { type AppName, APPS } from '../installation/apps.ts';
import { ROOT } from '../installation/environment.ts';

export interface SupervisedAppOptions {
  name: AppName;
  env: Environment;
  /** Receives the output of the process, line by line. */
  print: (line: string) => void;
  /** Whether the process writes its standard output to ours by itself. Then `print` receives only its errors. */
  sharesOutput: boolean;
}

/**
 * New objects get 24 MiB at most instead of 48, as in the images: nearly all objects of a request are garbage by the next
 * collection. The smaller the limit, the less the heap grows between two full collections; an app needs a small part of
 * it, and attacks run with the same. In a container, V8 derives a limit from that of the container: of 512 MiB, this one.
 * Options of the environment come after these, and win.
 */
const NODE_OPTIONS = '--max-semi-space-size=8 --max-old-space-size=256';

/** Instead of eight arenas for each processor, of which every thread of a process would fill its own. As in the images. */
const ALLOCATOR = { MALLOC_ARENA_MAX: '2' };

/** Milliseconds to wait before a restart, by the number of restarts in a row. */
const BACK_OFF = [100, 200, 500, 1_000, 2_000, 5_000];
/** A process that ran this long restarts with the shortest delay again; milliseconds. */
const STABLE_AFTER = 10_000;
/** Milliseconds; longer than an app's own limit. */
const STOP_TIMEOUT = 27_000;

/**
 * Runs an app as a process, and restarts it on the same port whenever it exits.
 * @throws when the first process exits before it is ready
 */
export async function superviseApp({ print, ...options }: SupervisedAppOptions): Promise<App> {
  const { name } = options;
  let child = spawnApp(options);
  const first = forwardOutput(child, print);
  const url = await Promise.race([
    ready(child),
    ended(child).then((end) => {
      throw new Error(`${name} did not start: ${first.errors.at(-1) ?? end}`);
    }),
  ]);
  first.flush();

  let stopping = false;
  // A function, because the flag changes during the awaits below.
  const isStopping = () => stopping;
  const cancelDelay = new AbortController();
  const supervise = async (): Promise<void> => {
    for (let restarts = 0; ; restarts += 1) {
      const startedAt = Date.now();
      const end = await ended(child);
      if (isStopping()) return;
      if (Date.now() - startedAt > STABLE_AFTER) restarts = 0;
      print(`${name} exited unexpectedly (${end}); restarting it`);
      const wait = BACK_OFF[Math.min(restarts, BACK_OFF.length - 1)];
      await delay(wait, undefined, { signal: cancelDelay.signal }).catch(() => undefined);
      if (isStopping()) return;
      child = spawnApp(options);
      forwardOutput(child, print).flush();
    }
  };
  const supervision = supervise();

  return {
    url,
    stop: async () => {
      stopping = true;
      cancelDelay.abort();
      child.kill('SIGTERM');
      const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
      await ended(child);
      clearTimeout(killTimer);
      await supervision;
    },
  };
}

/**
 * In a separate process group: Ctrl-C in a terminal reaches only this process, which stops the apps in order. When this
 * process dies, its channel to the app closes, and the app stops by itself.
 */
function spawnApp({ name, env, sharesOutput }: Omit<SupervisedAppOptions, 'print'>): ChildProcess {
  return spawn(process.execPath, ['--import', '@tocsin/tracing', path.join(APPS[name].folder, 'src/main.ts')], {
    cwd: ROOT,
    env: { ...env, ...ALLOCATOR, NODE_OPTIONS: `${NODE_OPTIONS} ${env['NODE_OPTIONS'] ?? ''}` },
    detached: true,
    stdio: ['ignore', sharesOutput ? 'inherit' : 'pipe', 'pipe', 'ipc'],
  });
}

async function ready(child: ChildProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  child.on('message', (message: ReadyMessage) => resolve(message.url));
  return promise;
}

/** Waits for the end of a process. Returns its signal or exit code. */
async function ended(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return child.signalCode ?? `exit code ${child.exitCode}`;
}

/** Forwards the output of a process; holds its errors back in `errors` until `flush`. */
function forwardOutput(child: ChildProcess, print: (line: string) => void): { errors: string[]; flush(): void } {
  const errors: string[] = [];
  let onError = (line: string): void => void errors.push(line);
  if (child.stdout !== null) createInterface(child.stdout).on('line', print);
  if (child.stderr !== null) createInterface(child.stderr).on('line', (line) => onError(line));
  return {
    errors,
    flush: () => {
      onError = print;
      errors.splice(0).forEach(print);
    },
  };
}
