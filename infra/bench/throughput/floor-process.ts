import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

export interface FloorProcess {
  readonly pid: number;
  readonly address: { host: string; port: number };
  stop(): Promise<void>;
}

/** @param databaseUrl as the administrator of the database, which has an incident with a timeline event */
export async function startFloor(databaseUrl: string): Promise<FloorProcess> {
  const child = fork(path.join(import.meta.dirname, 'floor.ts'), {
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  const ended = once(child, 'exit');
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [{ port: number } | number];
  if (typeof message !== 'object') throw new Error(`the floor did not start: ${message}`);
  return {
    pid: child.pid ?? 0,
    address: { host: '127.0.0.1', port: message.port },
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}
