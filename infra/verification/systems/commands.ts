import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Environment } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import { ROOT } from '../../installation/environment.ts';

const run = promisify(execFile);

/** A command of the repository that runs as a process. */
export interface RunningCommand {
  readonly pid: number;
  /** The output so far, stdout and stderr. */
  output(): string;
  /** What the command has written to stderr so far. */
  errors(): string;
  /** Returns the address in the line `ready …`. @throws Error with the output if the command ends before that */
  ready(): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Returns the exit code, or the signal that ended the process. */
  ended(): Promise<number | NodeJS.Signals | null>;
}

/** What a command needs to know about the system that it runs on; the cache makes it start in half of the time. */
const inherited = (): Environment =>
  Object.fromEntries(['PATH', 'HOME', 'NODE_COMPILE_CACHE'].map((name) => [name, process.env[name]]));

/**
 * Runs `infra/<script>` with these settings and without those of the test process.
 * @param outputFile receives stdout, so that this process need not read it
 */
export function runCommand(script: string, settings: Environment, outputFile?: string): RunningCommand {
  const file = outputFile === undefined ? undefined : openSync(outputFile, 'a');
  // What comes before is of an earlier run.
  const begin = file === undefined ? 0 : fstatSync(file).size;
  const child = spawn(process.execPath, [path.join('infra', script)], {
    cwd: ROOT,
    env: { ...inherited(), ...settings },
    stdio: ['ignore', file ?? 'pipe', 'pipe'],
  });
  if (file !== undefined) closeSync(file);
  let received = '';
  let errors = '';
  child.stdout?.on('data', (bytes: Buffer) => (received += bytes.toString()));
  child.stderr?.on('data', (bytes: Buffer) => {
    received += bytes.toString();
    errors += bytes.toString();
  });
  const output = () => (outputFile === undefined ? '' : readFileSync(outputFile).toString('utf8', begin)) + received;
  const ended = once(child, 'close').then(() => child.exitCode ?? child.signalCode);
  return {
    pid: child.pid ?? 0,
    output,
    errors: () => errors,
    ready: async () => {
      const line = await eventually(() => child.exitCode !== null || (/^ready (\S+)$/m.exec(output()) ?? undefined), {
        what: 'the line with ready',
      });
      if (line === true) throw new Error(output());
      return line[1] ?? '';
    },
    signal: (name) => void child.kill(name),
    ended: async () => ended,
  };
}

export interface SystemProcess {
  parent: number;
  command: string;
}

/** Returns the processes whose command lines contain all the words, by process ID. */
export async function processesWith(...words: string[]): Promise<Map<number, SystemProcess>> {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid=,ppid=,command=']);
  const processes = stdout.split('\n').map((line) => /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? []);
  return new Map(
    processes
      .filter(([, , , command = '']) => words.every((word) => command.includes(word)))
      .map(([, pid, parent, command = '']) => [Number(pid), { parent: Number(parent), command }]),
  );
}
