import { QUEUES, queueName } from '@tocsin/schemas';
import { eventually, testServers } from '@tocsin/testing';
import amqplib from 'amqplib';
import type pg from 'pg';
import { APP_NAMES, APPS } from '../../installation/apps.ts';
import { startParts } from '../../embedded/start-parts.ts';
import { processesWith } from '../systems/commands.ts';
import { localHarness } from '../systems/local-harness.ts';
import { findReplicas } from '../systems/processes.ts';
import { type RunningInstance, startInstance } from '../systems/running-instance.ts';
import type { ProcessGroups } from './cpu.ts';

export type BenchSystem = Awaited<ReturnType<typeof startSystem>>;

/** More requests a minute than the bench can send. */
const RATE_LIMIT_PER_MINUTE = '100000000';
/** As many as the floor has. */
const DATABASE_POOL_SIZE = '10';
/** A busy machine must not end reads. */
const DATABASE_READ_TIMEOUT_MS = '8000';
const DRAINED_WITHIN = 300_000;

/**
 * Starts Tocsin as separate processes, as `make services` does, on a database of its own.
 * @param options.replicas processes of each app
 */
export async function startSystem({ replicas = 1 } = {}) {
  const { amqpUrl, redisUrl } = testServers();
  if (amqpUrl === undefined || redisUrl === undefined)
    throw new Error('the bench needs PostgreSQL, RabbitMQ and Redis on their default ports');
  const harness = await localHarness(replicas);
  return startParts(async (closing, stop) => {
    closing.push(harness.remove);
    const broker = await amqplib.connect(amqpUrl);
    closing.push(async () => broker.close());
    const channel = await broker.createChannel();
    const start = async () => {
      const started = await startInstance(harness, {
        RATE_LIMIT_PER_MINUTE,
        DATABASE_POOL_SIZE,
        DATABASE_READ_TIMEOUT_MS,
        REPLICAS: String(replicas),
      });
      closing.push(started.stop);
      return systemOf(started);
    };
    const systemOf = ({ command, databaseUrl, env, sql, createWorkspace, stop: end }: RunningInstance) => {
      const namespace = env['TOCSIN_NAMESPACE'] ?? 'tocsin';
      const outboxes = APP_NAMES.map((name) => `(select count(*) from ${APPS[name].schema.name}.outbox)`);
      const isDrained = async (): Promise<boolean> => {
        const { rows } = await sql.query<{ count: number }>(`select (${outboxes.join(' + ')})::int as count`);
        const names = Object.values(QUEUES).map((queue) => queueName(namespace, queue));
        const queues = await Promise.all(names.map(async (name) => channel.checkQueue(name)));
        return rows[0]?.count === 0 && queues.every(({ messageCount }) => messageCount === 0);
      };
      return {
        origin: `http://127.0.0.1:${harness.port}`,
        /** Of all gateways. */
        origins: Array.from({ length: replicas }, (_, index) => `http://127.0.0.1:${harness.port + index}`),
        /** Of all apps. */
        pids: async () => [...(await findReplicas(command.pid)).values()].flat(),
        ...{ databaseUrl, sql, env, stop, pid: command.pid },
        createWorkspaces: async (count: number) => Array.fromAsync({ length: count }, createWorkspace),
        /** The processes that work for a request, Postgres by the app whose connections they serve. */
        groups: async () => processGroups(command.pid, sql),
        /** Waits until the outboxes and the queues are empty. */
        drained: async () =>
          eventually(isDrained, { within: DRAINED_WITHIN, what: 'empty queues' }).then(() => undefined),
        /** Ends the apps. */
        end: async () => {
          closing.splice(closing.indexOf(end), 1);
          await end();
        },
      };
    };
    return { ...(await start()), restart: start };
  });
}

async function processGroups(supervisor: number, sql: pg.Client): Promise<ProcessGroups> {
  const { rows } = await sql.query<{ pid: number; role: string }>(
    `select pid, usename as role from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  const backendsOf = (role: string) => rows.filter((row) => row.role === role).map(({ pid }) => pid);
  return new Map([
    ...(await findReplicas(supervisor)),
    ...APP_NAMES.map((name) => [`postgres for ${name}`, backendsOf(`tocsin_${APPS[name].schema.name}`)] as const),
    ['RabbitMQ', [...(await processesWith('beam.smp', 'rabbit')).keys()]],
    ['Redis', [...(await processesWith('redis-server')).keys()]],
  ]);
}
