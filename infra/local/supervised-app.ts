import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { App, Environment, ReadyMessage } from '@tocsin/runtime';
import { type AppName, APPS } from '../apps.ts';
import { ROOT } from '../environment.ts';

export interface SupervisedAppOptions {
  name: AppName;
  env: Environment;
  /** Gets what the process writes, line by line. */
  print: (line: string) => void;
}

/** The more often in a row it dies, the longer we wait before we start it again; milliseconds. */
const BACK_OFF = [100, 200, 500, 1_000, 2_000, 5_000];
/** After a life this long it begins with the shortest wait again. */
const LONG_LIFE = 10_000;
/** Longer than an app gives itself. */
const STOP_TIMEOUT = 27_000;

/**
 * Runs an app as a process of its own, and starts it again, on its port, whenever it dies.
 * @throws when its first life ends before it is ready
 */
export async function superviseApp({ name, env, print }: SupervisedAppOptions): Promise<App> {
  let child = spawnApp(name, env);
  const first = relay(child, print);
  const url = await Promise.race([
    ready(child),
    ended(child).then((end) => {
      throw new Error(`${name} did not start: ${first.complaints.at(-1) ?? end}`);
    }),
  ]);
  first.passOn();

  let stopping = false;
  // A function, because the flag changes while we wait.
  const isStopping = () => stopping;
  const alarm = new AbortController();
  const keepAlive = async (): Promise<void> => {
    for (let deaths = 0; ; deaths += 1) {
      const born = Date.now();
      const end = await ended(child);
      if (isStopping()) return;
      if (Date.now() - born > LONG_LIFE) deaths = 0;
      print(`${name} died (${end}), starting it again`);
      const wait = BACK_OFF[Math.min(deaths, BACK_OFF.length - 1)];
      await delay(wait, undefined, { signal: alarm.signal }).catch(() => undefined);
      if (isStopping()) return;
      child = spawnApp(name, env);
      relay(child, print).passOn();
    }
  };
  const standing = keepAlive();

  return {
    url,
    stop: async () => {
      stopping = true;
      alarm.abort();
      child.kill('SIGTERM');
      const patience = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
      await ended(child);
      clearTimeout(patience);
      await standing;
    },
  };
}

/**
 * In a process group of its own: Ctrl-C in a terminal reaches us alone, and we stop the apps one after the other. When we
 * die, the channel between us closes, and the app stops by itself.
 */
function spawnApp(name: AppName, env: Environment): ChildProcess {
  return spawn(process.execPath, [path.join(APPS[name].folder, 'src/main.ts')], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

async function ready(child: ChildProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  child.on('message', (message: ReadyMessage) => resolve(message.url));
  return promise;
}

/** Waits for the end of a process; answers what it ended by. */
async function ended(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  return child.signalCode ?? `exit code ${child.exitCode}`;
}

/** Passes on what a process writes; what it complains of before it is ready is for `complaints` alone, until then. */
function relay(child: ChildProcess, print: (line: string) => void): { complaints: string[]; passOn(): void } {
  const complaints: string[] = [];
  let complain = (line: string): void => void complaints.push(line);
  if (child.stdout !== null) createInterface(child.stdout).on('line', print);
  if (child.stderr !== null) createInterface(child.stderr).on('line', (line) => complain(line));
  return {
    complaints,
    passOn: () => {
      complain = print;
      complaints.splice(0).forEach(print);
    },
  };
}
