import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Environment, generateSecretKeys } from '@tocsin/runtime';
import { behave, type Receiver, testServers } from '@tocsin/testing';
import { appEnvironments } from '../../apps.ts';
import { migrateConfig } from '../../migrate/config.ts';
import { migrateAll } from '../../migrate/migrate-all.ts';
import { freePorts } from '../../ports.ts';
import { dropDatabase } from '../systems/drop-database.ts';
import { startTrustedReceiver } from '../systems/receivers.ts';
import { removeTopologies } from './broker-probe.ts';
import { isRefused, receiverAddress } from './checks/webhooks.ts';
import { admin } from './checks/identity.ts';
import { type Combination, COMBINATIONS } from './combinations.ts';
import type { Fault } from './faults.ts';
import { createFleet, type Releases } from './fleet.ts';
import { type Result, runCombinations } from './run-combinations.ts';
import { SLUG, type World } from './world.ts';

export interface SuiteOptions {
  releases: Releases;
  combinations: readonly Combination[];
  fault: Fault | undefined;
  report: (result: Result) => void;
  signal: AbortSignal;
}

/** Runs the combinations on a database and names of their own, and removes these afterwards. */
export async function runSuite(options: SuiteOptions): Promise<Result[]> {
  const servers = testServers();
  const { amqpUrl, redisUrl } = servers;
  if (amqpUrl === undefined || redisUrl === undefined) {
    throw new Error('this needs PostgreSQL, RabbitMQ and Redis on their default ports');
  }
  const name = `compat${randomBytes(4).toString('hex')}`;
  const databaseUrl = new URL(servers.databaseUrl);
  databaseUrl.pathname = `/tocsin_test_${servers.runId}_${name}`;
  const namespaces = { 1: `${name}-1`, 2: `${name}-2` };
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-compat-'));
  const trusted = await startTrustedReceiver(COMBINATIONS.map((_, index) => receiverAddress(index)));
  const { receiver } = trusted;
  receiver.respond = ({ path: requested }) => behave.answer(isRefused(requested) ? 503 : 204);
  try {
    const [port = 0] = await freePorts(1);
    const env: Environment = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_ENV: 'development',
      LOG_LEVEL: 'info',
      PORT: String(port),
      TOCSIN_DATA_DIR: folder,
      TOCSIN_SECRET_KEYS: generateSecretKeys(),
      DATABASE_URL: databaseUrl.href,
      // Up to ten processes share a server with others.
      DATABASE_POOL_SIZE: '3',
      AMQP_URL: amqpUrl,
      REDIS_URL: redisUrl,
      RATE_LIMIT_PER_MINUTE: '100000',
      ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000',
      ...trusted.settings,
    };
    await migrateAll(migrateConfig(env), () => undefined);
    const world = await createWorld(options.releases, { env, receiver, url: `http://127.0.0.1:${port}` });
    await options.fault?.beforeStart({
      databaseUrl: databaseUrl.href,
      amqpUrl,
      namespace: namespaces[1],
      release: options.releases.old,
    });
    const results: Result[] = [];
    for (const phase of [1, 2] as const) {
      const combinations = options.combinations.filter((each) => each.phase === phase);
      if (combinations.length === 0 || options.signal.aborted) continue;
      const namespace = namespaces[phase];
      world.env = { ...env, TOCSIN_NAMESPACE: namespace };
      const fleet = createFleet({ releases: options.releases, environments: await appEnvironments(world.env) });
      results.push(...(await runCombinations({ ...options, combinations, fleet, world, amqpUrl, namespace })));
    }
    return results;
  } finally {
    await trusted.stop();
    for (const namespace of Object.values(namespaces)) {
      await removeTopologies({ url: amqpUrl, namespace, releases: options.releases });
    }
    await dropDatabase(servers.databaseUrl, databaseUrl.pathname.slice(1));
    await rm(folder, { recursive: true, force: true });
  }
}

/** Creates the workspace that all combinations use, with the administration of the old release. */
async function createWorld(
  releases: Releases,
  { env, receiver, url }: { env: Environment; receiver: Receiver; url: string },
): Promise<World> {
  const world: World = {
    url,
    releases,
    env,
    receiver,
    tokens: [],
    sessions: [],
    records: new Map(),
    previous: {},
    workspace: { id: 0, slug: SLUG, is_demo: false },
  };
  const { workspace } = await admin<{ workspace: { id: number } }>(
    world,
    releases.old,
    ...['workspace', 'create', '--slug', SLUG, '--name', SLUG],
  );
  world.workspace.id = workspace.id;
  return world;
}
