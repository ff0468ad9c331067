import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Environment, ReadyMessage } from '@tocsin/runtime';
import { eventually, httpClient } from '@tocsin/testing';
import type { AppName } from '../../apps.ts';
import type { Release } from './release.ts';

/** Milliseconds; the process starts within seconds, and connects to the broker in the background. */
const READY_WITHIN = 45_000;
/** Milliseconds; an app's own limit is 25 seconds. */
const STOP_TIMEOUT = 28_000;
const KEPT_LINES = 20;

/** A running app of one release. */
export interface AppProcess {
  readonly app: AppName;
  readonly release: Release;
  stop(): Promise<void>;
}

export interface AppProcessOptions {
  app: AppName;
  release: Release;
  /** All settings; the process gets those that its release reads. */
  env: Environment;
  /** Receives errors in the log, refused declarations on the broker, and an unexpected end. */
  report: (problem: string) => void;
}

/** Starts an app as `make services` does, and returns when all its dependencies are up. */
export async function startAppProcess({ app, release, env, report }: AppProcessOptions): Promise<AppProcess> {
  const label = `${app} (${release.name})`;
  const definition = release.apps[app];
  const child = spawn(process.execPath, [path.join(release.root, definition.folder, 'src/main.ts')], {
    cwd: release.root,
    env: release.childEnvironment(app, env),
    // Ctrl-C in a terminal must reach this process only, which stops the apps. When it dies, their channel closes.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let expectedEnd = false;
  const lastLines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface(stream).on('line', (line) => {
      lastLines.push(line);
      if (lastLines.length > KEPT_LINES) lastLines.shift();
      const problem = problemIn(line);
      if (problem !== undefined) report(`${label} logged: ${problem}`);
    });
  }
  const ended = once(child, 'close').then(() => {
    const end = child.signalCode ?? `exit code ${child.exitCode}`;
    if (!expectedEnd) report(`${label} ended with ${end}: ${lastLines.slice(-3).join(' | ')}`);
    return end;
  });
  const stop = async () => {
    expectedEnd = true;
    child.kill('SIGTERM');
    const timer = setTimeout(() => {
      report(`${label} did not stop`);
      child.kill('SIGKILL');
    }, STOP_TIMEOUT);
    await ended;
    clearTimeout(timer);
  };
  try {
    await Promise.race([
      ready(child),
      ended.then((end) => {
        throw new Error(`${label} did not start: ${lastLines.at(-1) ?? end}`);
      }),
    ]);
    const { port } = definition.listenVariables;
    await waitForDependencies(label, `http://127.0.0.1:${env[port] ?? ''}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { app, release, stop };
}

async function ready(child: ChildProcess): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  child.on('message', (message: ReadyMessage) => resolve(message.url));
  return promise;
}

/** An app is ready without the broker; here it must reach everything. */
async function waitForDependencies(label: string, url: string): Promise<void> {
  let last = 'nothing';
  const isUp = async () => {
    const answer = await httpClient(url).get('/readyz');
    last = answer.text;
    const { dependencies } = answer.body as { dependencies: Record<string, string> };
    return answer.status === 200 && Object.values(dependencies).every((state) => state === 'up');
  };
  await eventually(isUp, { within: READY_WITHIN }).catch(() => {
    throw new Error(`${label} does not reach what it needs: ${last}`);
  });
}

/** What is wrong according to a log line, if anything is. */
function problemIn(line: string): string | undefined {
  // A queue that the other release declared with other arguments.
  if (line.includes('PRECONDITION_FAILED')) return /PRECONDITION_FAILED[^"\\]*/.exec(line)?.[0];
  let record: { level?: string; msg?: string; err?: { message?: string } };
  try {
    record = JSON.parse(line) as typeof record;
  } catch {
    return undefined;
  }
  if (record.level !== 'error' && record.level !== 'fatal') return undefined;
  return [record.msg, record.err?.message].filter((text) => text !== undefined).join(': ');
}
