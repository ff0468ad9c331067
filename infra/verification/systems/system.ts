/**
 * `verification` proves that Tocsin does what its contract says. `checks` reads sources (`npm run check`). `systems`
 * starts apps for everything else: this file starts all of them in this process, on real servers, each with the keys of
 * a process of its own; `running.ts` starts and stops what a suite needs, and `servers` finds PostgreSQL, RabbitMQ and
 * Redis, or starts them. `test` has the tests of whole systems. `history` lets clients work, and checks that what they,
 * the feed and receivers saw fits together; `soak` does so while parts fail. `attacks` attacks a system while other
 * workspaces use it, `compat` runs the last release beside this one, and `bench` measures. Databases and names on the
 * broker belong to one run, and are removed at its end, so that runs do not disturb each other.
 */
import { randomBytes } from 'node:crypto';
import { SCOPES } from '@tocsin/schemas';
import { setRoleSettings } from '@tocsin/postgres';
import { type App, type Clock, createLogger, type Environment } from '@tocsin/runtime';
import {
  BUSY_MACHINE,
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
import { administration, openGatewayDatabase, type Role, type Seat } from '../../../gateway/src/administration.ts';
import { APP_NAMES, type AppName, type AppOverrides, appEnvironments, APPS } from '../../installation/apps.ts';
import { deriveServiceKeys } from '../../installation/service-keys.ts';
import { type AdminCommand, adminCommand } from './admin-command.ts';
import { sharedRoles } from './database-urls.ts';
import { type OtherTree, otherTree } from './other-tree.ts';
import { isPooled, startTransactionPooler } from './transaction-pooler.ts';

/** Milliseconds between two polls of the webhook service: each takes time from the tests beside it. */
const POLLS = { withReceivers: 100, without: 1_000 };

/** The owner of an API key, and the key's scopes. */
interface Person {
  workspace?: string;
  role?: Role;
  seat?: Seat;
  scopes?: readonly string[];
}

/** All apps on real servers, in this process. */
export interface System {
  /** The gateway's address. */
  url: string;
  /** The address of an app's health and metrics: the gateway's internal one. */
  internalUrl(name: AppName): string;
  /** The prefix of its names on the broker. */
  namespace: string;
  database: TestDatabase;
  /** Creates the workspace if it does not exist, a user and a key; returns a client with that key. */
  as(person?: Person): Promise<Client & { token: string }>;
  admin: AdminCommand;
  /** A client of a workspace without a token. */
  anonymously(workspace?: string): Client;
  /** Stops one app. */
  stopApp(name: AppName): Promise<void>;
  /** Starts a stopped app again, at its address. */
  startApp(name: AppName): Promise<void>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  /** Instead of the broker of the test run; the same for all apps, or one for each. */
  amqpUrl?: string | ((app: AppName) => string) | undefined;
  /** The prefix of its names on the broker; default: one of its own. */
  namespace?: string;
  /** Changes the database before the apps use it. Returns settings. */
  prepare?: (database: TestDatabase) => Promise<Environment>;
  receivers?: readonly Pick<Receiver, 'ca' | 'hostAndPort'>[];
  /** The webhook service's clock, instead of the database's. */
  webhookClock?: Clock;
  /** Each periodic task of the services runs for the first time within this time; milliseconds. */
  firstRunWithin?: number;
  /** Whether the webhook service polls its queue only as often as in production; otherwise `POLLS`. */
  rests?: boolean;
  /** Between two runs of the periodic tasks that otherwise run every hour; milliseconds. */
  taskInterval?: number;
  settings?: Environment;
  /** Replaces parts of the gateway. */
  gateway?: AppOverrides;
}

export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const servers = testServers();
  const other = await otherTree();
  const { apps: migrated = APPS } = other ?? {};
  const database = await createTestDatabase(
    ...APP_NAMES.map((app) => ({ schema: migrated[app].schema.name, migrations: migrated[app].schema.migrations })),
  );
  const { amqpUrl = servers.amqpUrl, namespace = `tocsin-test-${randomBytes(4).toString('hex')}` } = options;
  const pooler = isPooled() ? await startTransactionPooler(database.adminUrl) : undefined;
  for (const app of pooler === undefined ? [] : APP_NAMES)
    await setRoleSettings({ url: database.url(APPS[app].schema.name), schema: APPS[app].schema.name });
  const environments = await environmentsOf({ ...options, amqpUrl, namespace, pooled: pooler?.settings }, database);
  const start = appStarter({ ...options, amqpUrl }, { environments, other });
  const apps = Object.fromEntries(
    await Promise.all(APP_NAMES.map(async (name): Promise<[AppName, App]> => [name, await start(name)])),
  ) as Record<AppName, App>;
  await Promise.all(Object.values(apps).map(waitForBroker));

  const gatewayDatabase = openGatewayDatabase(environments.gateway);
  const admin = administration(gatewayDatabase);
  const anonymously = (workspace = 'acme') => httpClient(apps.gateway.url, { Host: `${workspace}.localhost` });
  let people = 0;

  return {
    url: apps.gateway.url,
    internalUrl: (name) => internalUrlOf(apps[name]),
    namespace,
    database,
    anonymously,
    admin: adminCommand({
      ...environments.gateway,
      TOCSIN_SECRET_KEYS: deriveServiceKeys(TEST_SECRET_KEYS, 'admin'),
    }),
    as: async ({ workspace = 'acme', role = 'admin', seat = 'responder', scopes = [...SCOPES] } = {}) => {
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
      apps[name] = await start(name);
      await waitForBroker(apps[name]);
    },
    stop: async () => {
      await apps.gateway.stop();
      await Promise.all(Object.values(apps).map(async (app) => app.stop()));
      await gatewayDatabase.destroy();
      await pooler?.stop();
      await database.drop();
      // A test that has its own broker removes the whole broker.
      if (options.amqpUrl === undefined) await removeTopology(servers.amqpUrl ?? '', namespace);
    },
  };
}

async function environmentsOf(
  options: SystemOptions & { pooled: Environment | undefined },
  database: TestDatabase,
): Promise<Record<AppName, Environment>> {
  const { amqpUrl, namespace, pooled, receivers = [] } = options;
  const prepared = await options.prepare?.(database);
  return appEnvironments({
    NODE_ENV: 'test',
    PORT: '0',
    TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    TOCSIN_NAMESPACE: namespace,
    DATABASE_URL: database.adminUrl,
    ...sharedRoles(database.adminUrl),
    ...pooled,
    DATABASE_POOL_SIZE: '4',
    AMQP_URL: typeof amqpUrl === 'string' ? amqpUrl : undefined,
    REDIS_URL: testServers().redisUrl,
    RATE_LIMIT_PER_MINUTE: '100000',
    ...BUSY_MACHINE,
    WEBHOOK_CHECKS_PER_MINUTE_PER_WORKSPACE: '60',
    WEBHOOK_CHECKS_PER_MINUTE_PER_RECEIVER: '60',
    WEBHOOK_TEST_RECEIVERS: receivers.map((receiver) => receiver.hostAndPort()).join(','),
    ...prepared,
    ...options.settings,
  });
}

/** Returns a function that starts an app. */
function appStarter(
  options: SystemOptions,
  { environments, other }: { environments: Record<AppName, Environment>; other: OtherTree | undefined },
): (name: AppName) => Promise<App> {
  const { amqpUrl, receivers = [] } = options;
  const log = createLogger({ app: 'system', level: process.env.TEST_LOG ?? 'silent' });
  const taskTimes = {
    ...(options.firstRunWithin !== undefined && { firstRunWithin: options.firstRunWithin }),
    ...(options.taskInterval !== undefined && { taskInterval: options.taskInterval }),
  };
  const ca = receivers.map((receiver) => receiver.ca).join('\n');
  const serviceOverrides = {
    log,
    checkReplies: true,
    ca,
    ...(options.rests !== true && { dispatchInterval: receivers.length > 0 ? POLLS.withReceivers : POLLS.without }),
    ...taskTimes,
  };
  return async (name) => {
    if (other?.has(name) === true) return other.start(name, environments[name], ca);
    const clock = name === 'webhook' ? options.webhookClock : undefined;
    // With the keys of a process of its own: an app that uses another app's key fails here.
    const env = {
      ...environments[name],
      TOCSIN_SECRET_KEYS: deriveServiceKeys(TEST_SECRET_KEYS, name),
      ...(typeof amqpUrl === 'function' && { AMQP_URL: amqpUrl(name) }),
    };
    const overrides =
      name === 'gateway'
        ? { log, ...taskTimes, ...options.gateway }
        : { ...serviceOverrides, ...(clock !== undefined && { clock }) };
    return APPS[name].start(env, overrides);
  };
}

/** The gateway has health in detail, and metrics, only on its internal port. */
const internalUrlOf = (app: App) => ('internalUrl' in app ? String(app.internalUrl) : app.url);

/** The apps start without the broker; tests that count events need it from the start. */
async function waitForBroker(app: App): Promise<void> {
  await eventually(
    async () => {
      const { body } = await httpClient(internalUrlOf(app)).get('/readyz');
      return body.dependencies.broker !== 'down';
    },
    { what: 'the connection to the broker' },
  );
}
