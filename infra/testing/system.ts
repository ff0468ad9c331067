import { randomBytes } from 'node:crypto';
import { type App, type Clock, createLogger, type Environment } from '@tocsin/runtime';
import {
  type Client,
  createTestDatabase,
  eventually,
  httpClient,
  type Receiver,
  removeTopology,
  TEST_SECRET_KEYS,
  type TestDatabase,
  testServers,
} from '@tocsin/testing';
import { administration, openGatewayDatabase, type Role, type Seat } from '../../gateway/src/administration.ts';
import { startApp as startGateway } from '../../gateway/src/app.ts';
import { gatewayConfig } from '../../gateway/src/config.ts';
import { schema as gatewaySchema } from '../../gateway/src/schema.ts';
import { startApp as startCatalog } from '../../services/catalog/src/app.ts';
import { catalogConfig } from '../../services/catalog/src/config.ts';
import { schema as catalogSchema } from '../../services/catalog/src/schema.ts';
import { startApp as startCustomField } from '../../services/custom-field/src/app.ts';
import { customFieldConfig } from '../../services/custom-field/src/config.ts';
import { schema as customFieldSchema } from '../../services/custom-field/src/schema.ts';
import { startApp as startIncident } from '../../services/incident/src/app.ts';
import { incidentConfig } from '../../services/incident/src/config.ts';
import { schema as incidentSchema } from '../../services/incident/src/schema.ts';
import { startApp as startWebhook } from '../../services/webhook/src/app.ts';
import { webhookConfig } from '../../services/webhook/src/config.ts';
import { schema as webhookSchema } from '../../services/webhook/src/schema.ts';
import { APP_NAMES, type AppName, placeApps } from '../apps.ts';
import { type Administer, administrator } from './administer.ts';

const SCHEMAS = [gatewaySchema, incidentSchema, catalogSchema, customFieldSchema, webhookSchema];

/** A key's owner, and what the key may. */
export interface Person {
  workspace?: string;
  role?: Role;
  seat?: Seat;
  scopes?: readonly string[];
}

/** All five apps on real servers, in this process. */
export interface System {
  /** The gateway's address. */
  url: string;
  /** Begins its names on the broker. */
  namespace: string;
  database: TestDatabase;
  /** Makes a workspace that is not there yet, a user and a key; speaks as that key. */
  as(person?: Person): Promise<Client & { token: string }>;
  admin: Administer;
  /** Speaks to a workspace without a token. */
  anonymously(workspace?: string): Client;
  /** Stops one app. */
  stopApp(name: AppName): Promise<void>;
  /** Starts a stopped app again, where it was. */
  startApp(name: AppName): Promise<void>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  /** Instead of the run's broker. */
  amqpUrl?: string;
  receivers?: readonly Receiver[];
  /** The webhook service's clock, instead of the database's. */
  webhookClock?: Clock;
  settings?: Environment;
}

const ALL_SCOPES = [
  'incidents:read',
  'incidents:write',
  'services:read',
  'services:write',
  'teams:read',
  'teams:write',
  'custom_fields:read',
  'custom_fields:write',
  'webhooks:manage',
];

export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const { receivers = [] } = options;
  const servers = testServers();
  const database = await createTestDatabase(...SCHEMAS.map(({ name, migrations }) => ({ schema: name, migrations })));
  const namespace = `tocsin-test-${randomBytes(4).toString('hex')}`;
  const places = await placeApps({
    NODE_ENV: 'test',
    PORT: '0',
    TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    TOCSIN_NAMESPACE: namespace,
    DATABASE_URL: database.adminUrl,
    DATABASE_POOL_SIZE: '5',
    AMQP_URL: options.amqpUrl ?? servers.amqpUrl,
    REDIS_URL: servers.redisUrl,
    RATE_LIMIT_PER_MINUTE: '100000',
    WEBHOOK_TEST_RECEIVERS: receivers.map((receiver) => receiver.hostAndPort()).join(','),
    ...options.settings,
  });
  const log = createLogger({ app: 'system', level: process.env.TEST_LOG ?? 'silent' });
  const checks = { log, checkReplies: true };
  const ca = receivers.map((receiver) => receiver.ca).join('\n');
  const starts: Record<AppName, () => Promise<App>> = {
    incident: async () => startIncident(incidentConfig(places.incident), { ...checks, ca }),
    catalog: async () => startCatalog(catalogConfig(places.catalog), checks),
    'custom-field': async () => startCustomField(customFieldConfig(places['custom-field']), checks),
    webhook: async () =>
      startWebhook(webhookConfig(places.webhook), {
        ...checks,
        ca,
        dispatchInterval: 100,
        ...(options.webhookClock !== undefined && { clock: options.webhookClock }),
      }),
    gateway: async () => startGateway(gatewayConfig(places.gateway), { log }),
  };
  const apps = Object.fromEntries(
    await Promise.all(APP_NAMES.map(async (name): Promise<[AppName, App]> => [name, await starts[name]()])),
  ) as Record<AppName, App>;
  await Promise.all(Object.values(apps).map(waitForBroker));

  const gatewayDatabase = openGatewayDatabase(places.gateway);
  const admin = administration(gatewayDatabase);
  const anonymously = (workspace = 'acme') => httpClient(apps.gateway.url, { Host: `${workspace}.localhost` });
  let people = 0;

  return {
    url: apps.gateway.url,
    namespace,
    database,
    anonymously,
    admin: administrator(places.gateway),
    as: async ({ workspace = 'acme', role = 'admin', seat = 'responder', scopes = ALL_SCOPES } = {}) => {
      await admin
        .getWorkspace(workspace)
        .catch(async () => admin.createWorkspace({ slug: workspace, name: workspace }));
      people += 1;
      const email = `person-${people}@${workspace}.example`;
      await admin.createUser({ workspace, email, name: `Person ${people}`, role, seat });
      const { token } = await admin.createKey({ workspace, user: email, name: 'test', scopes });
      return { ...anonymously(workspace).with({ Authorization: `Bearer ${token}` }), token };
    },
    stopApp: async (name) => apps[name].stop(),
    startApp: async (name) => {
      apps[name] = await starts[name]();
      await waitForBroker(apps[name]);
    },
    stop: async () => {
      await apps.gateway.stop();
      await Promise.all(Object.values(apps).map(async (app) => app.stop()));
      await gatewayDatabase.destroy();
      await database.drop();
      // A broker of the test's own goes with all that is on it.
      if (options.amqpUrl === undefined) await removeTopology(servers.amqpUrl ?? '', namespace);
    },
  };
}

/** Everything works without the broker; a test that counts on events wants it from the start. */
async function waitForBroker(app: App): Promise<void> {
  await eventually(
    async () => {
      const { body } = await httpClient(app.url).get('/readyz');
      return body.dependencies.broker !== 'down';
    },
    { what: 'the connection to the broker' },
  );
}
