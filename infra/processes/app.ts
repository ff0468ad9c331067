import { setTimeout as delay } from 'node:timers/promises';
import { type App, describeStartFailure, type Environment } from '@tocsin/runtime';
import {
  APP_NAMES,
  APPS,
  type AppName,
  clientSettings,
  replicaEnvironments,
  SERVICE_NAMES,
} from '../installation/apps.ts';
import { serveMetrics } from '../embedded/metrics.ts';
import { type DataDir, openDataDir, secretKeysFor } from '../installation/data-dir.ts';
import { migrateConfig } from '../migrate/config.ts';
import { logPrinter } from '../embedded/log-lines.ts';
import { migrateAll } from '../migrate/migrate-all.ts';
import { withDefaultWorkspace } from '../demo/default-workspace.ts';
import { bindError } from '../installation/ports.ts';
import { PORT_SETTING } from '../demo/sample-webhook.ts';
import { startParts } from '../embedded/start-parts.ts';
import type { Step } from '../embedded/steps.ts';
import { childEnvironment } from './child-environment.ts';
import type { LocalConfig } from './config.ts';
import { checkCredentials } from './check-credentials.ts';
import { findEncryptedData } from './find-encrypted-data.ts';
import { superviseApp } from './supervised-app.ts';

/** Milliseconds; a running app connects to its database at once. */
const READY_TIMEOUT = 30_000;

/** `step` runs each part of the start. */
export interface LocalOptions {
  config: LocalConfig;
  env: Environment;
  step: Step;
}

/** The apps as processes. */
export interface LocalTocsin extends App {
  /** The environment by which a command reaches the instance. */
  readonly env: Environment;
  /** The address of each gateway. */
  readonly gatewayUrls: readonly string[];
  /** Of the metrics of all apps, if a setting asks for them. */
  readonly metrics: string | undefined;
  readonly dataDir: DataDir;
}

/** What several processes of an app have by default, so that one can be replaced without a failed request. */
const DRAIN_SECONDS = '3';

/**
 * Starts each app as one or several processes, on the servers that the environment names, and keeps them running.
 * @throws an error with a one-line message; nothing is left running
 */
export const startLocal = async ({ config, env, step }: LocalOptions): Promise<LocalTocsin> =>
  startParts(async (closing, stop) => {
    const dataDir = await openDataDir(config.dataDir);
    closing.push(dataDir.close);
    const { replicas, http } = config;
    for (let index = 0; index < replicas && http.port !== 0; index += 1) {
      const inUse = await bindError({ ...http, port: http.port + index });
      if (inUse !== undefined) throw inUse;
    }

    const databases = migrateConfig(env);
    const print = (line: string) => {
      if (!line.endsWith('up to date')) console.log(line);
    };
    await step('servers', async () => checkCredentials(config.servers));
    await step('migrations', async () => migrateAll(databases, print));
    const secretKeys = await secretKeysFor(dataDir, env, async () => findEncryptedData(databases));

    const settings = {
      ...(replicas > 1 && { DRAIN_SECONDS }),
      ...withDefaultWorkspace(env),
      PORT: String(http.port),
      // No process here trusts the sample receiver.
      [PORT_SETTING]: '',
      TOCSIN_SECRET_KEYS: secretKeys,
    };
    const environments = await replicaEnvironments(settings, replicas);
    const start = async (name: AppName, running: App[]): Promise<App[]> =>
      settleAll(
        environments[name].map(async (environment) => {
          const app = await superviseApp({
            name,
            env: environmentOf(name, environment),
            print: logPrinter(name, config.logFormat),
            sharesOutput: config.logFormat === 'json',
          });
          running.push(app);
          await waitUntilReady(name, app.url);
          return app;
        }),
      );
    const services: App[] = [];
    const gateways: App[] = [];
    for (const apps of [services, gateways]) closing.push(async () => Promise.all(apps.map(async (app) => app.stop())));
    // The gateway starts last and stops first: while it takes requests, the services are running.
    await step('services', async () => settleAll(SERVICE_NAMES.map(async (name) => start(name, services))));
    const started = await step('gateway', async () => start('gateway', gateways));

    const gatewayUrls = started.map((gateway) => `http://localhost:${new URL(gateway.url).port}`);
    const [url = ''] = gatewayUrls;
    const reachable: Environment = { ...environments.gateway[0], ...config.servers, PORT: new URL(url).port };
    await dataDir.register({ env: clientSettings(reachable), pid: process.pid, baseUrl: url });
    let metrics: string | undefined;
    if (config.metricsPort !== undefined) {
      const appUrls = APP_NAMES.map((name) => reachable[APPS[name].addressVariable] ?? '');
      const served = await serveMetrics(config.metricsPort, appUrls).catch((error: unknown) => {
        const { code } = error as NodeJS.ErrnoException;
        throw new Error(`METRICS_PORT: the port ${config.metricsPort} is not available (${code})`, { cause: error });
      });
      closing.push(served.stop);
      metrics = served.url;
    }
    let stopped: Promise<void> | undefined;
    return { url, env: reachable, gatewayUrls, metrics, dataDir, stop: async () => (stopped ??= stop()) };
  });

/** Waits for all, so that those that start can be stopped. @throws the first error */
async function settleAll<Value>(work: readonly Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

function environmentOf(name: AppName, env: Environment): Environment {
  try {
    return childEnvironment(name, env);
  } catch (error) {
    throw new Error(`${name} did not start: ${describeStartFailure(error)}`, { cause: error });
  }
}

async function waitUntilReady(name: AppName, url: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT;
  let lastAnswer = 'nothing';
  while (Date.now() < deadline) {
    try {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
      if (response.ok) return;
      lastAnswer = await response.text();
    } catch (error) {
      lastAnswer = (error as Error).message;
    }
    await delay(100);
  }
  throw new Error(`${name} does not become ready: ${lastAnswer}`);
}
