import { chmod, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { startPostgres } from '../../embedded/postgres.ts';
import type { RunningCommand } from './commands.ts';
import type { LocalHarness } from './local-harness.ts';
import { startSystem, type SystemOptions } from './system.ts';

/** Stop what was started, in the order of the starts. */
const stops: (() => Promise<unknown>)[] = [];

/**
 * Starts something before the tests of a suite, and stops it after them: what was started last, first. Returns what stands
 * for it in hooks and tests.
 * @param stop default: its `stop` or `remove`, if it has one
 */
export function running<Thing extends object>(
  start: () => Promise<Thing>,
  stop: (thing: Thing) => Promise<unknown> = stopOf,
): Thing {
  let thing: Thing | undefined;
  beforeAll(async () => {
    const started = await start();
    thing = started;
    stops.push(async () => stop(started));
  });
  afterAll(async () => {
    await stops.pop()?.();
  });
  return new Proxy({} as Thing, {
    get: (_, name) => {
      if (thing === undefined) throw new Error(`${String(name)} is used before its start`);
      const value: unknown = Reflect.get(thing, name);
      return typeof value === 'function' ? (value.bind(thing) as unknown) : value;
    },
    set: (_, name, value) => Reflect.set(thing ?? {}, name, value),
  });
}

const stopOf = async (thing: { stop?(): Promise<unknown>; remove?(): Promise<unknown> }) =>
  thing.stop === undefined ? thing.remove?.() : thing.stop();

export const runningSystem = (options: () => SystemOptions = () => ({})) => running(async () => startSystem(options()));

/** A command that is ready. */
export function runningCommand(start: () => RunningCommand | Promise<RunningCommand>): RunningCommand {
  const command = running(
    async () => start(),
    async ({ signal, ended }) => {
      signal('SIGTERM');
      await ended();
    },
  );
  // Afterwards, so that a command that does not become ready is stopped, too.
  beforeAll(async () => {
    await command.ready();
  });
  return command;
}

/** A PostgreSQL of its own, in the folder of a harness. */
export const runningPostgres = (harness: LocalHarness, { durable = true } = {}) =>
  running(async () => {
    // As root, the database runs as another user, who must be able to enter the folder.
    await chmod(harness.folder, 0o711);
    const inFolder = (name: string) => path.join(harness.folder, name);
    const files = { folder: inFolder('database'), logFile: inFolder('postgres.log') };
    return startPostgres({ ...files, password: 'test', maxConnections: 100, durable });
  });

/** A folder, which is removed with all that is in it. */
export const temporaryFolder = () => running(async () => mkdtempDisposable(path.join(tmpdir(), 'tocsin-test-')));
