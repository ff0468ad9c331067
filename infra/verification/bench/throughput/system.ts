import { QUEUES, queueName } from '@tocsin/contracts';
import type { Environment } from '@tocsin/runtime';
import { eventually, httpClient, testServers } from '@tocsin/testing';
import amqplib from 'amqplib';
import type pg from 'pg';
import { APPS, APP_NAMES } from '../../../apps.ts';
import { startParts } from '../../../start-parts.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import { findReplicas } from '../../systems/processes.ts';
import { processesWith } from '../../systems/commands.ts';
import { localHarness } from '../../systems/local-harness.ts';
import { startInstance } from '../../systems/running-instance.ts';
import type { ProcessGroups } from './cpu.ts';
import type { Address } from './messages.ts';

/** Tocsin as separate processes, as `make services` starts it, on a database of its own. */
export interface BenchSystem {
  /** Of its gateways. */
  addresses: readonly Address[];
  /** As its administrator. */
  databaseUrl: string;
  sql: pg.Client;
  /** The settings by which commands reach it. */
  env: Environment;
  /** Of its names on the broker. */
  namespace: string;
  createWorkspaces(count: number): Promise<Workspace[]>;
  /** The processes that work for a request, Postgres by the app whose connections they serve. */
  groups(): Promise<ProcessGroups>;
  /** Waits until the outboxes and the queues are empty. */
  drained(): Promise<void>;
  stop(): Promise<void>;
}

/** More requests a minute than the bench can send. */
const UNLIMITED = 100_000_000;
const DRAINED_WITHIN = 300_000;
/** As many as the bare process has. */
const POOL_SIZE = 10;

/**
 * @param options `settings` override those of the bench; `databaseServer` is the URL of another way to Postgres;
 *   `replicas`: how many processes of each app, which share the connections to Postgres that one would have
 */
export async function startSystem(
  options: { settings?: Record<string, string>; databaseServer?: string; replicas?: number } = {},
): Promise<BenchSystem> {
  const { amqpUrl, redisUrl } = testServers();
  if (amqpUrl === undefined || redisUrl === undefined) {
    throw new Error('the bench needs PostgreSQL, RabbitMQ and Redis on their default ports');
  }
  const { replicas = 1 } = options;
  const harness = await localHarness(options.databaseServer, replicas);
  return startParts(async (closing, stop) => {
    closing.push(harness.remove);
    const instance = await startInstance(harness, {
      RATE_LIMIT_PER_MINUTE: String(UNLIMITED),
      DATABASE_POOL_SIZE: String(Math.ceil(POOL_SIZE / replicas)),
      ...(replicas > 1 && { REPLICAS: String(replicas) }),
      ...options.settings,
    });
    closing.push(instance.stop);
    const { command, databaseUrl, sql, createWorkspace } = instance;
    const broker = await amqplib.connect(amqpUrl);
    closing.push(async () => broker.close());
    const channel = await broker.createChannel();
    const namespace = instance.env['TOCSIN_NAMESPACE'] ?? 'tocsin';

    const waiting = async (): Promise<number> => {
      const outboxes = APP_NAMES.map((name) => `(select count(*) from ${APPS[name].schema.name}.outbox)`);
      const { rows } = await sql.query<{ count: number }>(`select (${outboxes.join(' + ')})::int as count`);
      const queues = await Promise.all(
        Object.values(QUEUES).map(async (queue) => channel.checkQueue(queueName(namespace, queue))),
      );
      return (rows[0]?.count ?? 0) + queues.reduce((sum, { messageCount }) => sum + messageCount, 0);
    };
    return {
      addresses: Array.from({ length: replicas }, (_, index) => ({ host: '127.0.0.1', port: harness.port + index })),
      databaseUrl,
      sql,
      env: instance.env,
      namespace,
      createWorkspaces: async (count) => Array.fromAsync({ length: count }, createWorkspace),
      groups: async () => processGroups({ supervisor: command.pid, sql }),
      drained: async () => {
        await eventually(async () => (await waiting()) === 0, { within: DRAINED_WITHIN, what: 'empty queues' });
      },
      stop,
    };
  });
}

async function processGroups({ supervisor, sql }: { supervisor: number; sql: pg.Client }): Promise<ProcessGroups> {
  const groups = new Map<string, number[]>([...(await findReplicas(supervisor)), ['supervisor', [supervisor]]]);
  const { rows } = await sql.query<{ pid: number; role: string }>(
    `select pid, usename as role from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  for (const name of APP_NAMES) {
    const own = rows.filter(({ role }) => role === `tocsin_${APPS[name].schema.name}`);
    groups.set(
      `postgres for ${name}`,
      own.map(({ pid }) => pid),
    );
  }
  groups.set('RabbitMQ', [...(await processesWith('beam.smp', 'rabbit')).keys()]);
  groups.set('Redis', [...(await processesWith('redis-server')).keys()]);
  return groups;
}

/** A client of one workspace, for what has to exist before a case. */
export const clientOf = (system: BenchSystem, { host, token }: Workspace) =>
  httpClient(urlOf(system.addresses), { Host: host, Authorization: `Bearer ${token}` });

function urlOf([address]: readonly Address[]): string {
  if (address === undefined) throw new Error('the system has no gateway');
  return `http://${address.host}:${address.port}`;
}
