import { type AppName, APPS } from '../apps.ts';
import { type LocalHarness, localHarness } from '../testing/local-harness.ts';
import { startInstance } from '../testing/running-instance.ts';
import type { Environment } from '@tocsin/runtime';
import { eventually, httpClient, type TcpProxy, tcpProxy, testServers } from '@tocsin/testing';
import type pg from 'pg';
import type { Workspace } from './attack.ts';
import { type Faults, faults } from './faults.ts';
import { findProcesses, type Processes } from './processes.ts';
import { startReceivers } from './receivers.ts';
import type { Victim } from './routes.ts';

/** What other processes need to reach the system. */
export interface TargetAddress {
  gateway: { host: string; port: number };
  /** As its administrator. */
  databaseUrl: string;
  receiverPort: number;
}

/** A running system with a database and names of its own: all apps as processes, as `make services` starts them. */
export interface Target extends TargetAddress {
  internalUrl(app: AppName): string;
  processes(): Promise<Processes>;
  sql: pg.Client;
  faults: Faults;
  /** Creates a workspace for an attacker, with an API key. */
  createWorkspace(): Promise<Workspace>;
  createVictim(slug: string): Promise<Victim>;
  /** Kills all apps and waits for new ones, after an attack from which they did not recover. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const READY_WITHIN = 60_000;

/** @param settings instead of the defaults */
export async function startTarget(settings: Environment = {}): Promise<Target> {
  const servers = testServers();
  if (servers.amqpUrl === undefined || servers.redisUrl === undefined) {
    throw new Error('the attacks need PostgreSQL, RabbitMQ and Redis on their default ports');
  }
  const harness = await localHarness();
  const closing: (() => Promise<unknown>)[] = [harness.remove];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const receivers = await startReceivers(harness.folder);
    const redis = await tcpProxy(servers.redisUrl);
    const broker = await tcpProxy(servers.amqpUrl);
    closing.push(receivers.stop, redis.close, broker.close);
    return await startApps({ harness, redis, broker, receivers, settings, closing, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startApps(options: {
  harness: LocalHarness;
  redis: TcpProxy;
  broker: TcpProxy;
  receivers: { port: number; settings: Record<string, string> };
  settings: Environment;
  closing: (() => Promise<unknown>)[];
  stop: () => Promise<void>;
}): Promise<Target> {
  const { harness, redis, broker, receivers, closing } = options;
  const instance = await startInstance(harness, {
    ...receivers.settings,
    ...options.settings,
    AMQP_URL: broker.url,
    REDIS_URL: redis.url,
    LOG_LEVEL: 'warn',
    // As in a container of 512 MiB, of which V8 takes half; with much memory it collects garbage late.
    NODE_OPTIONS: '--max-old-space-size=256',
  });
  closing.push(instance.stop);
  const { sql, databaseUrl, createWorkspace } = instance;

  const gateway = { host: '127.0.0.1', port: harness.port };
  const internalUrl = (app: AppName) => instance.env[APPS[app].addressVariable] ?? '';
  const processes = async () => findProcesses(instance.command.pid);
  const own = faults({ processes, databaseUrl, redis, broker });
  const isReady = async () => {
    const running = await processes();
    if (running.size < Object.keys(APPS).length) return false;
    for (const app of running.keys())
      if ((await httpClient(internalUrl(app)).get('/readyz')).status !== 200) return false;
    return true;
  };
  return {
    gateway,
    databaseUrl,
    receiverPort: receivers.port,
    internalUrl,
    processes,
    sql,
    faults: own,
    createWorkspace,
    createVictim: async (slug) => createVictim(slug, await harness.workspace(slug), harness.port),
    restart: async () => {
      own.heal();
      for (const pid of (await processes()).values()) process.kill(pid, 'SIGKILL');
      await sql.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
      await eventually(isReady, { within: READY_WITHIN, what: 'the restart of the system' });
    },
    stop: async () => {
      own.heal();
      await options.stop();
    },
  };
}

/** A workspace as an ordinary one is: with a team, a service, a custom field and an incident. */
async function createVictim(slug: string, token: string, port: number): Promise<Victim> {
  const host = `${slug}.localhost`;
  const client = httpClient(`http://127.0.0.1:${port}`, { Host: host, Authorization: `Bearer ${token}` });
  const create = async (path: string, body: unknown): Promise<{ id: number }> => {
    const answer = await client.post(`/api/v1/${path}`, body);
    if (answer.status !== 201) throw new Error(`a victim cannot create ${path}: ${answer.text}`);
    return Object.values(answer.body as Record<string, { id: number }>)[0] ?? { id: 0 };
  };
  const team = await create('teams', { name: 'Payments' });
  await create('services', { name: 'Checkout', owner_team_id: team.id });
  await create('custom-fields', { name: 'Customer', field_type: 'string' });
  const incident = await create('incidents', { title: 'Checkout is slow', service: 'checkout' });
  return { host, token, incidentId: incident.id };
}
