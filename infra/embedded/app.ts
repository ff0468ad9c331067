import { lstat } from 'node:fs/promises';
import { MemoryBroker } from '@tocsin/messaging';
import { declareOwnServers } from '@tocsin/http';
import { type App, type Environment, memoryVersions } from '@tocsin/runtime';
import { memoryRequestCounter } from '../../gateway/src/app.ts';
import {
  APP_NAMES,
  type AppName,
  type AppOverrides,
  appEnvironments,
  APPS,
  clientSettings,
  MEMORY_BROKER,
  SERVICE_NAMES,
} from '../installation/apps.ts';
import { type DataDir, type EncryptedData, openDataDir, secretKeysFor } from '../installation/data-dir.ts';
import { migrateConfig } from '../migrate/config.ts';
import { migrateAll } from '../migrate/migrate-all.ts';
import { withDefaultWorkspace } from '../demo/default-workspace.ts';
import { ignoreMissing } from '../installation/missing-files.ts';
import { bindError } from '../installation/ports.ts';
import { trustReceiver } from '../demo/receiver/certificate.ts';
import { PORT_SETTING, receiverAddress } from '../demo/sample-webhook.ts';
import { startParts } from './start-parts.ts';
import type { Step } from './steps.ts';
import type { EmbeddedConfig } from './config.ts';
import { openLogFile } from './logs.ts';
import { serveMetrics } from './metrics.ts';
import { databaseFolder, openEmbeddedDatabase } from './open-database.ts';

/** All apps and their database, in this process. */
export interface EmbeddedTocsin extends App {
  /** The environment by which a command reaches the instance. */
  readonly env: Environment;
  readonly dataDir: DataDir;
  readonly logFile: string;
  /** The address of the metrics of all apps, or why there is none. */
  readonly metrics: string;
}

/** `step` runs each part of the start. */
export interface EmbeddedOptions {
  config: EmbeddedConfig;
  env: Environment;
  step: Step;
}

/** For the pools of five apps, some of which have two, and for commands. */
const connectionsFor = (poolSize: number) => 8 * poolSize + 20;

/**
 * Starts an embedded PostgreSQL and all apps on it.
 * @throws an error with a one-line message; nothing is left running
 */
export const startEmbedded = async ({ config, env, step }: EmbeddedOptions): Promise<EmbeddedTocsin> =>
  startParts(async (closing, stop) => {
    const dataDir = await openDataDir(config.dataDir);
    closing.push(dataDir.close);
    const inUse = config.http.port === 0 ? undefined : await bindError(config.http);
    if (inUse !== undefined) throw inUse;
    const logs = openLogFile(dataDir.path, { level: config.logLevel, format: config.logFormat });
    closing.push(logs.close);
    const log = logs.loggerOf('embedded');

    const folder = databaseFolder(dataDir);
    // Before the database is created: a database without keys beside it has lost them.
    const secretKeys = await secretKeysFor(dataDir, env, async () => findEncryptedData(folder));
    const maxConnections = connectionsFor(config.poolSize);
    const postgres = await step('PostgreSQL', async () => openEmbeddedDatabase({ dataDir, maxConnections, log }));
    closing.push(postgres.stop);

    if (config.receiverPort !== undefined) await trustReceiver(dataDir);
    const settings = {
      ...withoutServers(config.demo ? withDefaultWorkspace(env) : env),
      ...receiverSettings(config, env),
      DATABASE_URL: postgres.url,
      TOCSIN_SECRET_KEYS: secretKeys,
      // There is no other process that could take the requests meanwhile.
      DRAIN_SECONDS: '0',
    };
    await step('migrations', async () => migrateAll(migrateConfig(settings), (line) => log.info(line)));

    const environments = await appEnvironments(settings);
    const appUrls = APP_NAMES.map((name) => environments.gateway[APPS[name].addressVariable] ?? '');
    declareOwnServers(appUrls);
    const broker = new MemoryBroker();
    closing.push(async () => broker.close());
    const shared: AppOverrides = { broker, versions: memoryVersions(), requestCounter: memoryRequestCounter() };
    const start = async (name: AppName) =>
      APPS[name].start(environments[name], { ...shared, log: logs.loggerOf(name) });
    const services: App[] = [];
    closing.push(async () => Promise.all(services.map(async (service) => service.stop())));
    await step('services', async () => {
      const started = await Promise.allSettled(SERVICE_NAMES.map(async (name) => services.push(await start(name))));
      for (const outcome of started) if (outcome.status === 'rejected') throw outcome.reason;
    });

    // The gateway starts last and stops first: while it takes requests, the services are running.
    const gateway = await step('gateway', async () => start('gateway'));
    closing.push(async () => gateway.stop());

    const { port } = new URL(gateway.url);
    const url = `http://localhost:${port}`;
    // Without the broker that `env` may name for the other ways to run.
    const reachable = { ...environments.gateway, PORT: port, AMQP_URL: '', TOCSIN_BROKER: MEMORY_BROKER };
    await dataDir.register({ env: clientSettings(reachable), pid: process.pid, baseUrl: url });
    const metricsPort = config.metricsPort ?? besides(Number(port));
    const served = await serveMetrics(metricsPort, appUrls).catch((error: unknown) => error as NodeJS.ErrnoException);
    if (!(served instanceof Error)) closing.push(served.stop);
    const metrics =
      served instanceof Error
        ? `not served: port ${metricsPort} is not available (${served.code}); set METRICS_PORT`
        : `${served.url} (of all apps)`;
    let stopped: Promise<void> | undefined;
    return { url, env: reachable, dataDir, logFile: logs.path, metrics, stop: async () => (stopped ??= stop()) };
  });

const LAST_PORT = 65_535;

/** The port after another one. */
const besides = (port: number) => (port === LAST_PORT ? port - 1 : port + 1);

/** Allows the sample receiver, besides those that `env` allows. */
function receiverSettings({ receiverPort }: EmbeddedConfig, env: Environment): Environment {
  if (receiverPort === undefined) return { [PORT_SETTING]: '' };
  const receivers = [env['WEBHOOK_TEST_RECEIVERS'] ?? '', receiverAddress(receiverPort)];
  return {
    [PORT_SETTING]: String(receiverPort),
    WEBHOOK_TEST_RECEIVERS: receivers.filter((each) => each !== '').join(),
  };
}

/**
 * Removes the servers that `env` names for the other ways to run: this instance uses its own database and none other.
 */
const withoutServers = (env: Environment) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/(?:DATABASE|^AMQP|^REDIS)_URL$/.test(name)));

/** A symbolic link counts as a database, even when its target is missing. */
const findEncryptedData = async (folder: string): Promise<EncryptedData | undefined> =>
  (await lstat(folder).catch(ignoreMissing)) && {
    location: `the database in ${folder}`,
    alternative: 'remove the data with make reset',
  };
