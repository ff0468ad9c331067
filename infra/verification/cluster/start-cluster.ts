import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startParts } from '../../embedded/start-parts.ts';
import type { Group } from './group.ts';
import { startNetwork } from './network.ts';
import { mayMakeNetworks, missingPackages } from './packages.ts';
import { startPostgresCluster } from './postgres.ts';
import { startRabbitMqCluster } from './rabbitmq.ts';
import { startRedisCluster } from './redis.ts';

/** Three machines of each engine. */
export interface Cluster {
  readonly folder: string;
  readonly postgres: Group;
  readonly rabbitMq: Group;
  readonly redis: Group;
  readonly groups: readonly Group[];
  /** The settings of the apps. */
  readonly env: Readonly<Record<'DATABASE_URL' | 'AMQP_URL' | 'REDIS_URL', string>>;
  /** Kills all machines and removes their files. */
  stop(): Promise<void>;
}

/** @throws Error in one line that says what to install, if something is missing */
export function checkRequirements(): void {
  const missing = missingPackages();
  if (missing.length > 0)
    throw new Error(
      `a cluster needs RUNLEVEL=1 apt-get install -y --no-install-recommends ${missing.join(' ')} (RUNLEVEL=1: without their services)`,
    );
  if (!mayMakeNetworks()) throw new Error('a cluster needs root, and the right to make network namespaces');
}

/** Starts three machines of each engine, as network namespaces with addresses of their own. */
export const startCluster = async (): Promise<Cluster> =>
  startParts(async (closing, stop) => {
    checkRequirements();
    const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-cluster-'));
    closing.push(async () => rm(folder, { recursive: true, force: true }));
    // Each program runs as another user, who must be able to enter the folder.
    await chmod(folder, 0o711);
    const names = ['pg', 'mq', 'redis'].flatMap((name) => [1, 2, 3].map((number) => `${name}${number}`));
    const network = await startNetwork(folder, names, 1 + (process.pid % 254));
    closing.push(network.stop);
    const { machines, subnet } = network;
    const postgres = await startPostgresCluster(machines.slice(0, 3), subnet);
    const rabbitMq = await startRabbitMqCluster(machines.slice(3, 6));
    const redis = await startRedisCluster(machines.slice(6));
    const groups = [postgres, rabbitMq, redis];
    for (const group of groups) await group.whole();
    const env = { DATABASE_URL: postgres.url, AMQP_URL: rabbitMq.url, REDIS_URL: redis.url };
    return { folder, postgres, rabbitMq, redis, groups, env, stop };
  });
