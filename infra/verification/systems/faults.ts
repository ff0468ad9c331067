import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { TcpProxy } from '@tocsin/testing';
import { type AppName, APPS } from '../../installation/apps.ts';
import { withClient } from '../../installation/databases.ts';
import type { Mode } from './local-harness.ts';
import type { Processes } from './processes.ts';

/** A part of the system that stops responding without closing its connections. */
export type Fault =
  | { kind: 'process'; app: AppName }
  /** The database connections of one app. */
  | { kind: 'database'; app: AppName }
  | { kind: 'redis' }
  | { kind: 'broker' };

/** Breaks parts of the system, and repairs all of them. */
export interface Faults {
  /** Returns false if this machine does not allow it. */
  break(fault: Fault): Promise<boolean>;
  heal(): void;
}

/** Milliseconds until the connections of a database are idle: a stopped one must hold no lock. */
const IDLE_WITHIN = 2_000;

/** Seconds; longer than any attack stops a process. */
const STOPPED_AT_MOST = 60;

/** Continues stopped processes even if this process is killed: a stopped Postgres process would block others. */
function guard(pids: readonly number[]): void {
  const script = `sleep ${STOPPED_AT_MOST}; kill -CONT ${pids.join(' ')}`;
  spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' }).unref();
}

export function faults(options: {
  mode: Mode;
  processes: () => Promise<Processes>;
  databaseUrl: string;
  redis: TcpProxy;
  broker: TcpProxy;
}): Faults {
  const stopped = new Set<number>();
  const stop = (pids: readonly number[]): boolean => {
    try {
      // Signal 0 asks whether the process may be signalled.
      for (const pid of pids) process.kill(pid, 0);
      if (pids.length > 0) guard(pids);
      for (const pid of pids) {
        process.kill(pid, 'SIGSTOP');
        stopped.add(pid);
      }
      return pids.length > 0;
    } catch {
      return false;
    }
  };
  return {
    break: async (fault) => {
      // One process has everything, and its database with it.
      if (options.mode === 'embedded') return false;
      if (fault.kind === 'process') {
        const pid = (await options.processes()).get(fault.app);
        return pid !== undefined && stop([pid]);
      }
      if (fault.kind === 'database') return stop(await idleBackends(options.databaseUrl, fault.app));
      options[fault.kind].stall();
      return true;
    },
    heal: () => {
      for (const pid of stopped) {
        try {
          process.kill(pid, 'SIGCONT');
        } catch {
          // It has ended.
        }
      }
      stopped.clear();
      options.redis.restore();
      options.broker.restore();
    },
  };
}

/**
 * Returns the processes of a Postgres on this machine that serve an app, as soon as all of them are idle; none if
 * Postgres runs elsewhere, for instance in a container.
 */
const idleBackends = async (databaseUrl: string, app: AppName): Promise<number[]> =>
  withClient(databaseUrl, async (database) => {
    const deadline = Date.now() + IDLE_WITHIN;
    while (Date.now() < deadline) {
      const { rows } = await database.query<{ pid: number; isIdle: boolean }>(
        `select pid, state = 'idle' as "isIdle" from pg_stat_activity
         where datname = current_database() and usename = $1`,
        [`tocsin_${APPS[app].schema.name}`],
      );
      const name = new URL(databaseUrl).pathname.slice(1);
      const areOurs = await Promise.all(rows.map(async ({ pid }) => isBackendOf(pid, name)));
      if (areOurs.includes(false)) return [];
      if (rows.every(({ isIdle }) => isIdle)) return rows.map(({ pid }) => pid);
      await delay(10);
    }
    return [];
  });

async function isBackendOf(pid: number, database: string): Promise<boolean> {
  const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return title.startsWith('postgres') && title.includes(database);
}
