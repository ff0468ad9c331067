import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Load, LoadResult } from './load.ts';

export interface ScriptProcess {
  readonly pid: number;
  /** Where it listens, if it does. */
  readonly origin: string;
  ask(message: object): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a script of this folder, which sends a message as soon as it is ready, with the port that it listens at. */
export async function startScript(script: string, args: readonly string[] = [], env = {}): Promise<ScriptProcess> {
  const child = fork(path.join(import.meta.dirname, script), args, {
    env: { ...process.env, ...env },
    // parse-server prints what its options will be in another version.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = new AbortController();
  child.once('exit', () => ended.abort(new Error(`${script} has ended`)));
  const next = async (): Promise<unknown> => {
    const messages = (await once(child, 'message', { signal: ended.signal }).catch(() => {
      throw ended.signal.reason;
    })) as unknown[];
    return messages[0];
  };
  const { port } = (await next()) as { port?: number };
  return {
    pid: child.pid ?? 0,
    origin: `http://127.0.0.1:${port}`,
    ask: async (message) => {
      child.send(message);
      return next();
    },
    stop: async () => {
      if (ended.signal.aborted) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** @throws if a response has an error status, or the bench was interrupted */
export type RunLoad = (load: Load) => Promise<LoadResult>;

export const loadIn =
  (clients: ScriptProcess, interrupted: AbortSignal): RunLoad =>
  async (load) => {
    interrupted.throwIfAborted();
    const { result, error } = (await clients.ask(load)) as { result?: LoadResult; error?: string };
    if (result === undefined) throw new Error(error);
    return result;
  };
