/**
 * `installation` is what all ways to run Tocsin have in common. This file is the registry of the apps, with their
 * schemas, settings, keys and starts; generated deployments and local ones follow it. `data-dir.ts` is the folder of an
 * instance: one process at a time has its lock, which the system releases however the process ends. Secrets in it are
 * made once; without the keys, a database with encrypted data is not started. `service-keys.ts` derives the keys that
 * each process needs, and `broker-definitions.ts` says what it may do on the broker: no others (ADR 18, ADR 75).
 * `kept-secrets.ts` gives two runs at the same time the same secrets. `unfinished-restore.ts` marks a folder that a
 * restore has not completed.
 */
import { SERVICE_NAMES, type ServiceName, SERVICES } from '@tocsin/schemas';
import { CURSOR_PURPOSE } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { App, Environment } from '@tocsin/runtime';
import type { Overrides as GatewayOverrides } from '../../gateway/src/app.ts';
import { gatewayConfig } from '../../gateway/src/config.ts';
import { schema as gatewaySchema } from '../../gateway/src/schema.ts';
import type { Overrides as CatalogOverrides } from '../../services/catalog/src/app.ts';
import { catalogConfig } from '../../services/catalog/src/config.ts';
import { schema as catalogSchema } from '../../services/catalog/src/schema.ts';
import type { Overrides as CustomFieldOverrides } from '../../services/custom-field/src/app.ts';
import { customFieldConfig } from '../../services/custom-field/src/config.ts';
import { schema as customFieldSchema } from '../../services/custom-field/src/schema.ts';
import type { Overrides as IncidentOverrides } from '../../services/incident/src/app.ts';
import { incidentConfig } from '../../services/incident/src/config.ts';
import { schema as incidentSchema } from '../../services/incident/src/schema.ts';
import type { Overrides as WebhookOverrides } from '../../services/webhook/src/app.ts';
import { webhookConfig } from '../../services/webhook/src/config.ts';
import { schema as webhookSchema } from '../../services/webhook/src/schema.ts';
import { freePorts } from './ports.ts';

export { SERVICE_NAMES, type ServiceName };
export type AppName = 'gateway' | ServiceName;

/** What a caller can start an app with instead of the real thing. An app ignores what it does not use. */
export type AppOverrides = Partial<
  GatewayOverrides & IncidentOverrides & CatalogOverrides & CustomFieldOverrides & WebhookOverrides
>;

/** The database schema that an app owns. */
export interface AppSchema {
  readonly name: string;
  /** The folder of its migrations. */
  readonly migrations: string;
  /** What other apps copy of it: the name by which they count its versions, and the table in which it counts them. */
  readonly copied?: { readonly as: string; readonly versions: { readonly table: string; readonly workspace: string } };
  /** The tables that it copies of other apps: the names of their tables by those of the copies. */
  readonly copies?: Readonly<Partial<Record<AppName, Readonly<Record<string, string>>>>>;
  /** The tables that become largest, which can be partitioned by workspace. */
  readonly largest?: readonly string[];
  /** Tables with rows of each workspace that has data in it. */
  readonly workspaces?: readonly string[];
}

/** Everything that `infra/` has to know about an app. */
export interface AppDefinition {
  /** What the app has, in a few words. */
  does: string;
  /** From the top of the repository; holds `src/main.ts`. */
  folder: string;
  schema: AppSchema;
  /** The variable that holds the URL of the app's own database. */
  databaseVariable: string;
  /** The variable by which the other apps find this one. */
  addressVariable: string;
  /** The variables for the host and the port that the other apps reach. */
  listenVariables: { host: string; port: string };
  /** Whether the app needs `REDIS_URL`. */
  usesRedis: boolean;
  /** What the app encrypts and signs for itself: purposes of secret keys. */
  ownKeys: readonly string[];
  /** For which requests the app may reach the internet; without it, it may not. */
  reaches?: string;
  /** How many pods the autoscaler may start. */
  maxPods: number;
  /** @throws ConfigError naming each setting that is missing or malformed */
  readConfig(env: Environment): unknown;
  /** Starts the app in this process. Loads its code only now, so that commands that start nothing stay small. */
  start(env: Environment, overrides: AppOverrides): Promise<App>;
  /** Whether the app's database holds encrypted data; only apps that encrypt data have it. */
  holdsSecrets?(database: Knex): Promise<boolean>;
}

/** What follows from the name of a service. */
const partsOf = (name: ServiceName) => ({
  folder: `services/${name}`,
  databaseVariable: `${name.replaceAll('-', '_').toUpperCase()}_DATABASE_URL`,
  addressVariable: SERVICES[name].address,
  listenVariables: { host: 'HOST', port: 'PORT' },
});

/**
 * The registry of the apps. A new service is added here; `npm run generate` then writes its parts of the Dockerfile, of
 * Compose, of Kubernetes and of Prometheus' configuration.
 */
export const APPS: Readonly<Record<AppName, AppDefinition>> = {
  gateway: {
    does: 'The only public server.',
    folder: 'gateway',
    reaches: 'the providers by which people sign in',
    maxPods: 8,
    schema: gatewaySchema,
    databaseVariable: 'GATEWAY_DATABASE_URL',
    addressVariable: 'GATEWAY_INTERNAL_URL',
    // HOST and PORT are the public server's.
    listenVariables: { host: 'INTERNAL_HOST', port: 'INTERNAL_PORT' },
    usesRedis: true,
    ownKeys: [CURSOR_PURPOSE, 'api-token', 'oidc'],
    readConfig: gatewayConfig,
    start: async (env, overrides) => (await import('../../gateway/src/app.ts')).startApp(gatewayConfig(env), overrides),
    holdsSecrets: async (database) => (await import('../../gateway/src/administration.ts')).holdsSecrets(database),
  },
  incident: {
    does: 'Incidents, timelines, chat.',
    ...partsOf('incident'),
    reaches: 'the chat system, trackers, and documents that are read into timelines',
    maxPods: 8,
    schema: incidentSchema,
    usesRedis: true,
    ownKeys: [CURSOR_PURPOSE, 'chat-token', 'tracker-address', 'attachment-url'],
    readConfig: incidentConfig,
    start: async (env, overrides) =>
      (await import('../../services/incident/src/app.ts')).startApp(incidentConfig(env), overrides),
    holdsSecrets: async (database) =>
      (await import('../../services/incident/src/administration.ts')).holdsSecrets(database),
  },
  catalog: {
    does: 'Services and teams.',
    ...partsOf('catalog'),
    reaches: 'calendars and schedules of who is on call',
    maxPods: 4,
    schema: catalogSchema,
    usesRedis: true,
    ownKeys: [CURSOR_PURPOSE, 'on-call-source'],
    readConfig: catalogConfig,
    start: async (env, overrides) =>
      (await import('../../services/catalog/src/app.ts')).startApp(catalogConfig(env), overrides),
    holdsSecrets: async (database) =>
      (await import('../../services/catalog/src/administration.ts')).holdsSecrets(database),
  },
  'custom-field': {
    does: 'Definitions of custom fields.',
    ...partsOf('custom-field'),
    maxPods: 4,
    schema: customFieldSchema,
    usesRedis: true,
    ownKeys: [CURSOR_PURPOSE],
    readConfig: customFieldConfig,
    start: async (env, overrides) =>
      (await import('../../services/custom-field/src/app.ts')).startApp(customFieldConfig(env), overrides),
  },
  webhook: {
    does: 'Subscriptions, deliveries and their sender.',
    ...partsOf('webhook'),
    reaches: 'webhook receivers',
    maxPods: 4,
    schema: webhookSchema,
    usesRedis: false,
    ownKeys: [CURSOR_PURPOSE, 'webhook-secret', 'webhook-url'],
    readConfig: webhookConfig,
    start: async (env, overrides) =>
      (await import('../../services/webhook/src/app.ts')).startApp(webhookConfig(env), overrides),
    holdsSecrets: async (database) =>
      (await import('../../services/webhook/src/administration.ts')).holdsSecrets(database),
  },
};

export const APP_NAMES = Object.keys(APPS) as AppName[];

/** The variables that have the passwords of an app's own database role and broker user. */
export function passwordVariables(app: AppName): { database: string; broker: string } {
  const database = APPS[app].databaseVariable.replace(/_URL$/, '_PASSWORD');
  return { database, broker: database.replace('_DATABASE_', '_AMQP_') };
}

/** `TOCSIN_BROKER` of a running instance whose broker is in its own memory. */
export const MEMORY_BROKER = 'memory';

/**
 * Chooses a free loopback port for each app, and returns each app's environment: `env` with the addresses of all apps.
 * Only the gateway's public address stays as `env` sets it.
 */
export async function appEnvironments(env: Environment): Promise<Record<AppName, Environment>> {
  const replicas = await replicaEnvironments(env, 1);
  return Object.fromEntries(APP_NAMES.map((name) => [name, { ...replicas[name][0] }])) as Record<AppName, Environment>;
}

/**
 * Does the same for several processes of each app; each knows the addresses of all. The public ports of the gateways
 * follow the one that `env` sets, unless that is 0.
 */
export async function replicaEnvironments(env: Environment, count: number): Promise<Record<AppName, Environment[]>> {
  const ports = await freePorts(APP_NAMES.length * count);
  const portsOf = (name: AppName) => ports.slice(APP_NAMES.indexOf(name) * count).slice(0, count);
  const addresses = Object.fromEntries(
    APP_NAMES.map((name) => [
      APPS[name].addressVariable,
      portsOf(name)
        .map((port) => `http://127.0.0.1:${port}`)
        .join(),
    ]),
  );
  const environments = APP_NAMES.map((name): [AppName, Environment[]] => {
    const { host, port: variable } = APPS[name].listenVariables;
    return [
      name,
      portsOf(name).map((port, index) => ({
        ...env,
        ...(index > 0 && name === 'gateway' && { PORT: publicPort(env['PORT'], index) }),
        ...addresses,
        [host]: '127.0.0.1',
        [variable]: String(port),
      })),
    ];
  });
  return Object.fromEntries(environments) as Record<AppName, Environment[]>;
}

const publicPort = (first: string | undefined, index: number): string | undefined =>
  first === undefined || first === '0' ? first : String(Number(first) + index);

const CLIENT_SETTINGS =
  /^(?:TOCSIN_\w+|(?:\w+_)?DATABASE_URL|DATABASE_SESSION_URL|AMQP_URL|REDIS_URL|BASE_DOMAIN|PUBLIC_URL|DEFAULT_WORKSPACE|PORT|INTERNAL_PORT|RECEIVER_PORT|\w*RATE_LIMIT_PER_MINUTE|\w+_RETENTION_(?:DAYS|HOURS)|WEBHOOK_MAX_QUEUED_PER_WORKSPACE)$/;
const ADDRESS_VARIABLES = new Set(APP_NAMES.map((name) => APPS[name].addressVariable));

/** The settings of a running instance that a command needs to reach its apps and their data. */
export function clientSettings(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        entry[1] !== '' &&
        (CLIENT_SETTINGS.test(entry[0]) || ADDRESS_VARIABLES.has(entry[0])),
    ),
  );
}

/**
 * Runs a configuration reader, and records the names that it looked up: the reader itself says what it reads, so no
 * list of settings can become wrong.
 */
export function readRecorded(
  read: (env: Environment) => unknown,
  env: Environment,
): { config: unknown; names: ReadonlySet<string> } {
  const names = new Set<string>();
  const recorded =
    <Result>(look: (target: Environment, name: string | symbol) => Result) =>
    (target: Environment, name: string | symbol) => {
      names.add(String(name));
      return look(target, name);
    };
  const config = read(
    new Proxy(env, {
      get: recorded(Reflect.get),
      // Of `Object.hasOwn`.
      getOwnPropertyDescriptor: recorded(Reflect.getOwnPropertyDescriptor),
    }),
  );
  return { config, names };
}
