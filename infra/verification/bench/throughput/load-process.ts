import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { LoadRequest, LoadResult } from './messages.ts';

/** The clients, in a process of their own. */
export interface LoadProcess {
  readonly pid: number;
  /** @throws if a connection breaks, a response has an error status, or the bench was interrupted */
  run(request: Omit<LoadRequest, 'first' | 'count'> & { count?: number }): Promise<LoadResult>;
  stop(): Promise<void>;
}

/** @param interrupted after it, no load runs */
export function startLoad(interrupted: AbortSignal): LoadProcess {
  const child = fork(path.join(import.meta.dirname, 'load.ts'));
  const ended = new AbortController();
  child.once('exit', () => ended.abort(new Error('the process of the clients has ended')));
  const signal = AbortSignal.any([interrupted, ended.signal]);
  let next = 1;
  return {
    pid: child.pid ?? 0,
    run: async (request) => {
      signal.throwIfAborted();
      const answered = once(child, 'message', { signal }) as Promise<[{ result?: LoadResult; error?: string }]>;
      child.send({ count: Number.MAX_SAFE_INTEGER, ...request, first: next } satisfies LoadRequest);
      const [{ result, error }] = await answered.catch((failure: unknown) => {
        signal.throwIfAborted();
        throw failure;
      });
      if (result === undefined) throw new Error(error);
      next = result.next;
      const [failure] = Object.entries(result.failures);
      if (failure !== undefined) throw new Error(`${failure[1]} of ${result.requests} requests failed: ${failure[0]}`);
      return result;
    },
    stop: async () => {
      if (ended.signal.aborted) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}
