import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from '../../installation/environment.ts';

export const TOCSIN = path.join(ROOT, 'infra/cli/bin/tocsin.mjs');

/** The settings of a `tocsin` in a test. */
export type TocsinSettings = Readonly<Record<string, string | undefined>>;

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts the command as a process, without the settings of the user who runs the tests. */
export function startTocsin(settings: TocsinSettings, args: readonly string[]): ChildProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, [TOCSIN, ...args], { env: { PATH, NODE_COMPILE_CACHE, ...settings } });
}

/** Runs the command to its end. */
export async function runTocsin(settings: TocsinSettings, args: readonly string[], input = ''): Promise<Finished> {
  const child = startTocsin(settings, args);
  child.stdin?.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}
