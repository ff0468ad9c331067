import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { MemoryBroker } from '@tocsin/messaging';
import { type App, type Environment, memoryVersions } from '@tocsin/runtime';
import { memoryWindows, startApp as startGateway } from '../../gateway/src/app.ts';
import { gatewayConfig } from '../../gateway/src/config.ts';
import { startApp as startCatalog } from '../../services/catalog/src/app.ts';
import { catalogConfig } from '../../services/catalog/src/config.ts';
import { startApp as startCustomField } from '../../services/custom-field/src/app.ts';
import { customFieldConfig } from '../../services/custom-field/src/config.ts';
import { startApp as startIncident } from '../../services/incident/src/app.ts';
import { incidentConfig } from '../../services/incident/src/config.ts';
import { startApp as startWebhook } from '../../services/webhook/src/app.ts';
import { webhookConfig } from '../../services/webhook/src/config.ts';
import { type AppName, placeApps, settingsOf } from '../apps.ts';
import { type DataDir, openDataDir, secretKeysFor } from '../data-dir.ts';
import { migrateConfig } from '../migrate/config.ts';
import { migrateAll } from '../migrate/migrate-all.ts';
import { whyTaken } from '../ports.ts';
import type { EmbeddedConfig } from './config.ts';
import { openLogFile, turnOver } from './logs.ts';
import { startPostgres } from './postgres.ts';

/** Everything, in this process. */
export interface EmbeddedTocsin extends App {
  /** The environment by which a command reaches it. */
  readonly env: Environment;
  readonly dataDir: DataDir;
  readonly logFile: string;
}

/** Of the pools of five apps, with one of some that have two, and of the commands that come by. */
const connectionsFor = (poolSize: number) => 8 * poolSize + 20;

/**
 * Starts a PostgreSQL of its own and the five apps on it. What else they would share between processes (broker, versions,
 * counters) is in this process's memory; the outboxes are in the database, so a crash loses nothing.
 * @throws one clear line, with nothing left running
 */
export async function startEmbedded(config: EmbeddedConfig, given: Environment): Promise<EmbeddedTocsin> {
  const closing: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const dataDir = await openDataDir(config.dataDir);
    closing.push(dataDir.close);
    const taken = config.http.port === 0 ? undefined : await whyTaken(config.http);
    if (taken !== undefined) throw taken;
    const logs = await openLogFile(dataDir.path, config.logLevel);
    closing.push(logs.close);
    const log = logs.loggerOf('embedded');

    const postgres = await startPostgres({
      folder: path.join(dataDir.path, 'postgres'),
      password: await dataDir.secret('postgres-password', () => randomBytes(24).toString('base64url')),
      logFile: await turnOver(path.join(dataDir.path, 'postgres.log')),
      maxConnections: connectionsFor(config.poolSize),
      onLoss: () => log.error('the database went down, starting it again'),
    });
    closing.push(postgres.stop);

    const env = {
      ...withoutDatabases(given),
      DATABASE_URL: inDatabase(postgres.url, 'tocsin'),
      TOCSIN_SECRET_KEYS: await secretKeysFor(dataDir, given),
    };
    await migrateAll(migrateConfig(env), (line) => log.info(line));

    const environments = await placeApps(env);
    const broker = new MemoryBroker();
    closing.push(async () => broker.close());
    const shared = { broker, versions: memoryVersions() };
    const starts: Record<Exclude<AppName, 'gateway'>, () => Promise<App>> = {
      incident: async () =>
        startIncident(incidentConfig(environments.incident), { ...shared, log: logs.loggerOf('incident') }),
      catalog: async () =>
        startCatalog(catalogConfig(environments.catalog), { ...shared, log: logs.loggerOf('catalog') }),
      'custom-field': async () =>
        startCustomField(customFieldConfig(environments['custom-field']), {
          ...shared,
          log: logs.loggerOf('custom-field'),
        }),
      webhook: async () => startWebhook(webhookConfig(environments.webhook), { broker, log: logs.loggerOf('webhook') }),
    };
    const services: App[] = [];
    closing.push(async () => Promise.all(services.map(async (service) => service.stop())));
    const started = await Promise.allSettled(
      Object.values(starts).map(async (start) => start().then((service) => services.push(service))),
    );
    for (const outcome of started) if (outcome.status === 'rejected') throw outcome.reason;

    // The last to come and the first to go: while it takes requests, everything behind it is there.
    const gateway = await startGateway(gatewayConfig(environments.gateway), {
      broker,
      limiter: memoryWindows(),
      log: logs.loggerOf('gateway'),
    });
    closing.push(async () => gateway.stop());

    const { port } = new URL(gateway.url);
    const url = `http://localhost:${port}`;
    const reachable = { ...environments.gateway, PORT: port };
    await dataDir.announce({ env: settingsOf(reachable), pid: process.pid, baseUrl: url });
    let stopped: Promise<void> | undefined;
    return {
      url,
      env: reachable,
      dataDir,
      logFile: logs.path,
      stop: async () => (stopped ??= closeAll()),
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** The database is ours, whatever a service was given for the other ways to run. */
const withoutDatabases = (env: Environment) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.endsWith('DATABASE_URL')));

function inDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
