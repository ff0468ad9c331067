import { type AppName, APPS } from '../../installation/apps.ts';
import { startParts } from '../../embedded/start-parts.ts';
import { localHarness, type Mode } from './local-harness.ts';
import { startInstance } from './running-instance.ts';
import type { Environment } from '@tocsin/runtime';
import { eventually, httpClient, tcpProxy, testServers } from '@tocsin/testing';
import type pg from 'pg';
import { type Faults, faults } from './faults.ts';
import { findProcesses, type Processes } from './processes.ts';
import { startHostileReceivers } from './receivers.ts';
import type { Workspace } from './workspaces.ts';

/** What other processes need to reach the system. */
export interface TargetAddress {
  gateway: { host: string; port: number };
  /** As its administrator. */
  databaseUrl: string;
  receiverPort: number;
}

/** A running system with a database and names of its own. */
export interface Target extends TargetAddress {
  readonly mode: Mode;
  internalUrl(app: AppName): string;
  /** If all apps are in one process, it is called `gateway`. */
  processes(): Promise<Processes>;
  readonly sql: pg.Client;
  faults: Faults;
  /** Creates a workspace with an API key. */
  createWorkspace(): Promise<Workspace>;
  /** Kills all apps and waits for new ones, after an attack from which they did not recover. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const READY_WITHIN = 60_000;

/** @param settings instead of the defaults */
export async function startTarget(mode: Mode, settings: Environment = {}): Promise<Target> {
  const { amqpUrl, redisUrl } = testServers();
  if (amqpUrl === undefined || redisUrl === undefined) {
    throw new Error('the attacks need PostgreSQL, RabbitMQ and Redis on their default ports');
  }
  const harness = await localHarness();
  return startParts(async (closing, stop) => {
    closing.push(harness.remove);
    const receivers = await startHostileReceivers();
    const redis = await tcpProxy(redisUrl);
    const broker = await tcpProxy(amqpUrl);
    closing.push(receivers.stop, redis.close, broker.close);
    const start = async () =>
      startInstance(
        harness,
        {
          ...receivers.settings,
          ...settings,
          AMQP_URL: broker.url,
          REDIS_URL: redis.url,
          LOG_LEVEL: 'warn',
          // As in a container of 512 MiB, of which V8 takes half; with much memory it collects garbage late.
          NODE_OPTIONS: '--max-old-space-size=256',
        },
        mode,
      );
    let instance = await start();
    closing.push(async () => instance.stop());

    const gateway = { host: '127.0.0.1', port: harness.port };
    const internalUrl = (app: AppName) => instance.env[APPS[app].addressVariable] ?? '';
    const processes = async (): Promise<Processes> =>
      mode === 'services' ? findProcesses(instance.command.pid) : new Map([['gateway', instance.command.pid]]);
    const targetFaults = faults({ mode, processes, databaseUrl: instance.databaseUrl, redis, broker });
    const isReady = async () => {
      const running = await processes();
      if (running.size < Object.keys(APPS).length) return false;
      for (const app of running.keys())
        if ((await httpClient(internalUrl(app)).get('/readyz')).status !== 200) return false;
      return true;
    };
    return {
      mode,
      gateway,
      get databaseUrl() {
        return instance.databaseUrl;
      },
      receiverPort: receivers.receiver.port,
      internalUrl,
      processes,
      get sql() {
        return instance.sql;
      },
      faults: targetFaults,
      createWorkspace: async () => instance.createWorkspace(),
      restart: async () => {
        targetFaults.heal();
        if (mode === 'embedded') {
          await instance.stop();
          instance = await start();
          return;
        }
        for (const pid of (await processes()).values()) process.kill(pid, 'SIGKILL');
        await instance.sql.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        );
        await eventually(isReady, { within: READY_WITHIN, what: 'the restart of the system' });
      },
      stop: async () => {
        targetFaults.heal();
        await stop();
      },
    };
  });
}
