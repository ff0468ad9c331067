import type { Environment } from '@tocsin/runtime';
import { freePorts } from './ports.ts';

/** The five apps: where each stands in the repository, and the setting by which the others find it. */
export const APPS = {
  incident: { folder: 'services/incident', address: 'INCIDENT_URL' },
  catalog: { folder: 'services/catalog', address: 'CATALOG_URL' },
  'custom-field': { folder: 'services/custom-field', address: 'CUSTOM_FIELD_URL' },
  webhook: { folder: 'services/webhook', address: 'WEBHOOK_URL' },
  gateway: { folder: 'gateway', address: 'GATEWAY_INTERNAL_URL' },
} as const;

export type AppName = keyof typeof APPS;

/** In the order of starting; stopping is the other way round. The gateway is the last to let anybody in. */
export const APP_NAMES = Object.keys(APPS) as AppName[];

/**
 * Gives each app a free loopback port, and each app's environment the addresses of all. Only the gateway's public
 * address is the one that `env` asks for.
 */
export async function placeApps(env: Environment): Promise<Record<AppName, Environment>> {
  const ports = await freePorts(APP_NAMES.length);
  const portOf = (name: AppName) => String(ports[APP_NAMES.indexOf(name)]);
  const addresses = Object.fromEntries(
    APP_NAMES.map((name) => [APPS[name].address, `http://127.0.0.1:${portOf(name)}`]),
  );
  const environmentOf = (name: AppName): Environment =>
    name === 'gateway'
      ? { PORT: '8080', ...present(env), ...addresses, INTERNAL_PORT: portOf(name) }
      : { ...env, ...addresses, HOST: '127.0.0.1', PORT: portOf(name) };
  return Object.fromEntries(APP_NAMES.map((name) => [name, environmentOf(name)])) as Record<AppName, Environment>;
}

/** An empty variable counts as unset. */
const present = (env: Environment) => Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

const SETTINGS =
  /^(?:TOCSIN_\w+|(?:\w+_)?DATABASE_URL|AMQP_URL|REDIS_URL|BASE_DOMAIN|PORT|INTERNAL_PORT|\w*RATE_LIMIT_PER_MINUTE)$/;
const ADDRESSES = new Set<string>(APP_NAMES.map((name) => APPS[name].address));

/** Of a process's environment, what concerns us: enough to reach the apps and their data. */
export function settingsOf(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && entry[1] !== '' && (SETTINGS.test(entry[0]) || ADDRESSES.has(entry[0])),
    ),
  );
}
