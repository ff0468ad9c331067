import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { startParts } from '../../../start-parts.ts';
import type { Address } from './messages.ts';

export interface ListeningProcess {
  readonly pid: number;
  readonly address: Address;
}

export interface FloorProcess extends ListeningProcess {
  /** Forwards all requests to the floor. */
  readonly proxy: ListeningProcess;
  stop(): Promise<void>;
}

/** @param databaseUrl as the administrator of the database, which has an incident with a timeline event */
export const startFloor = async (databaseUrl: string): Promise<FloorProcess> =>
  startParts(async (closing, stop) => {
    const floor = await startScript('floor.ts', [], { ...process.env, DATABASE_URL: databaseUrl });
    closing.push(floor.stop);
    const proxy = await startScript('bare-proxy.ts', [String(floor.address.port)], process.env);
    closing.push(proxy.stop);
    return { ...floor, proxy, stop };
  });

/** Starts a script of this folder, which sends the port that it listens at. */
export async function startScript(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ListeningProcess & { stop(): Promise<void> }> {
  const child = fork(path.join(import.meta.dirname, script), args, {
    env,
    // parse-server prints what its options will be in another version.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [{ port: number } | number];
  if (typeof message !== 'object') throw new Error(`${script} did not start: ${message}`);
  return {
    pid: child.pid ?? 0,
    address: { host: '127.0.0.1', port: message.port },
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}
