import { setTimeout as delay } from 'node:timers/promises';
import type { App, Environment } from '@tocsin/runtime';
import { APP_NAMES, type AppName, placeApps, settingsOf } from '../apps.ts';
import { openDataDir, secretKeysFor } from '../data-dir.ts';
import { migrateConfig } from '../migrate/config.ts';
import { migrateAll } from '../migrate/migrate-all.ts';
import { whyTaken } from '../ports.ts';
import type { LocalConfig } from './config.ts';
import { logPrinter } from './log-lines.ts';
import { superviseApp } from './supervised-app.ts';

/** An app that is up finds its database in no time. */
const READY_TIMEOUT = 30_000;

/**
 * Starts the five apps as processes, on the servers that the environment names, and keeps them running.
 * @throws one clear line, with nothing left running
 */
export async function startLocal(config: LocalConfig, given: Environment): Promise<App> {
  const closing: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const dataDir = await openDataDir(config.dataDir);
    closing.push(dataDir.close);
    const taken = config.http.port === 0 ? undefined : await whyTaken(config.http);
    if (taken !== undefined) throw taken;

    const env = { ...given, TOCSIN_SECRET_KEYS: await secretKeysFor(dataDir, given) };
    await migrateAll(migrateConfig(env), (line) => {
      if (!line.endsWith('up to date')) console.log(line);
    });

    const environments = await placeApps(env);
    const start = async (name: AppName, running: App[]): Promise<App> => {
      const app = await superviseApp({ name, env: environments[name], print: logPrinter(name) });
      running.push(app);
      await becomesReady(name, app.url);
      return app;
    };
    const services: App[] = [];
    const gateways: App[] = [];
    for (const apps of [services, gateways]) closing.push(async () => Promise.all(apps.map(async (app) => app.stop())));
    // The gateway is the last to come and the first to go: while it takes requests, everything behind it is there.
    const others = APP_NAMES.filter((name) => name !== 'gateway');
    const started = await Promise.allSettled(others.map(async (name) => start(name, services)));
    for (const outcome of started) if (outcome.status === 'rejected') throw outcome.reason;
    const gateway = await start('gateway', gateways);

    const { port } = new URL(gateway.url);
    const url = `http://localhost:${port}`;
    await dataDir.announce({
      env: settingsOf({ ...environments.gateway, PORT: port }),
      pid: process.pid,
      baseUrl: url,
    });
    let stopped: Promise<void> | undefined;
    return { url, stop: async () => (stopped ??= closeAll()) };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function becomesReady(name: AppName, url: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT;
  let answer = 'nothing';
  while (Date.now() < deadline) {
    try {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
      if (response.ok) return;
      answer = await response.text();
    } catch (error) {
      answer = (error as Error).message;
    }
    await delay(100);
  }
  throw new Error(`${name} does not become ready: ${answer}`);
}
