import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Environment } from '@tocsin/runtime';
import { removeTopology, reservePorts, testServers } from '@tocsin/testing';
import { type AdminCommand, adminCommand } from './admin-command.ts';
import { sharedRoles } from './database-urls.ts';
import { runCommand, type RunningCommand } from './commands.ts';
import { dropDatabase } from './drop-database.ts';
import { isPooled, startTransactionPooler } from './transaction-pooler.ts';

/** All apps as separate processes with RabbitMQ and Redis, or in one process without them. */
export type Mode = 'services' | 'embedded';

const SCRIPTS: Readonly<Record<Mode, string>> = { services: 'processes/main.ts', embedded: 'embedded/main.ts' };

/** What the apps as separate processes need in a test: a folder, a port, a database and names of their own. */
export interface LocalHarness {
  readonly folder: string;
  readonly port: number;
  /** Of the administrator; the first start creates the database. */
  readonly databaseUrl: string;
  /**
   * Starts the apps as `make services` does, or as `make start` does; `settings` override its settings.
   * @param outputFile receives their log lines
   */
  start(settings?: Environment, outputFile?: string, mode?: Mode): RunningCommand;
  /** Runs admin commands on the running apps. */
  admin: AdminCommand;
  /** Creates a workspace and an API key with all scopes; returns the token. */
  workspace(slug: string): Promise<string>;
  /** Removes everything. Call it after the apps have ended. */
  remove(): Promise<void>;
}

/** @param gateways how many there will be; their ports follow each other */
export async function localHarness(gateways = 1): Promise<LocalHarness> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-local-'));
  const [port = 0] = await reservePorts(gateways);
  const namespace = `t${randomBytes(5).toString('hex')}`;
  const servers = testServers();
  const database = new URL(servers.databaseUrl);
  database.pathname = `/tocsin_test_${servers.runId}_${namespace}`;

  const pooler = isPooled() ? await startTransactionPooler(database.href) : undefined;
  const admin = adminCommand({ TOCSIN_DATA_DIR: folder });
  return {
    folder,
    port,
    databaseUrl: database.href,
    start: (settings = {}, outputFile, mode = 'services') =>
      runCommand(
        SCRIPTS[mode],
        {
          PORT: String(port),
          TOCSIN_DATA_DIR: folder,
          TOCSIN_DEMO: '0',
          TOCSIN_NAMESPACE: namespace,
          DATABASE_URL: database.href,
          AMQP_URL: servers.amqpUrl,
          REDIS_URL: servers.redisUrl,
          ...(mode === 'services' && sharedRoles(settings['DATABASE_URL'] ?? database.href)),
          ...(mode === 'services' && settings['DATABASE_URL'] === undefined && pooler?.settings),
          ...settings,
        },
        outputFile,
      ),
    admin,
    workspace: async (slug) => {
      const user = ['--workspace', slug, '--email', `ana@${slug}.example`];
      await admin('workspace', 'create', '--slug', slug, '--name', slug);
      await admin('user', 'create', ...user, '--name', 'Ana', '--role', 'admin', '--seat', 'responder');
      const key = ['--workspace', slug, '--user', `ana@${slug}.example`, '--name', 'test', '--all-scopes'];
      return (await admin('key', 'create', ...key)).token;
    },
    remove: async () => {
      await removeTopology(servers.amqpUrl ?? '', namespace);
      await pooler?.stop();
      await dropDatabase(servers.databaseUrl, database.pathname.slice(1));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
