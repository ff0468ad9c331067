import { callersOf } from '@tocsin/schemas';
import { openPrincipalVerifier, type PrincipalVerifier } from '@tocsin/http';
import { type Broker } from '@tocsin/messaging';
import { AmqpBroker } from '@tocsin/messaging/amqp';
import { type DatabaseReadiness, databaseReadiness, type Knex, observeDatabase, openDatabase } from '@tocsin/postgres';
import {
  type BuildInfo,
  buildInfo,
  type Clock,
  createLogger,
  createMetrics,
  type ReadinessCheck,
  type Logger,
  type Metrics,
  observeBuild,
} from '@tocsin/runtime';
import { CONTRACT_LIMITS, type ServiceConfig, type ServiceLimits } from './config.ts';

const FIRST_RUN_WITHIN = 30_000;
const TASK_INTERVAL = 3_600_000;

/** Replacements for parts of any service, for the embedded app and for tests. */
export interface ServiceOverrides {
  log: Logger;
  clock: Clock;
  /** The service does not close it. */
  broker: Broker;
  /** For tests: a reply that does not match its contract is an error. */
  checkReplies: boolean;
  /** Every periodic task first runs at a random moment within this time; milliseconds, default 30,000. */
  firstRunWithin: number;
  /** Milliseconds between two runs of a periodic task that has no interval of its own; default: an hour. */
  taskInterval: number;
}

/** The connections and tools that every service needs; `runService` closes them. */
export interface ServiceBase {
  readonly log: Logger;
  readonly build: BuildInfo;
  readonly metrics: Metrics;
  readonly principals: PrincipalVerifier;
  /** Can access the service's schema only. */
  readonly database: Knex;
  readonly broker: Broker;
  /** The database's own check, with a connection of its own. */
  readonly databaseReadiness: DatabaseReadiness;
  readonly readinessChecks: readonly ReadinessCheck[];
  /** The `http` address of the configuration. */
  readonly address: { host: string; port: number };
  /** How long the servers announce their end; milliseconds. */
  readonly drainTime: number;
  readonly limits: ServiceLimits;
  readonly checkReplies: boolean;
  readonly firstRunWithin: number;
  readonly taskInterval: number;
  /** Does not close a broker from the overrides. */
  closeBroker(): Promise<void>;
}

/**
 * Opens the base of a service. It does not wait for connections, which are made in the background.
 * @throws Error for malformed secret keys; nothing is open then
 */
export function openBase(options: {
  /** The service's name in log lines, metrics and the purposes of keys. */
  name: string;
  schema: { readonly name: string };
  config: ServiceConfig;
  overrides: Partial<ServiceOverrides>;
}): ServiceBase {
  const { name, schema, config, overrides } = options;
  const log = overrides.log ?? createLogger({ app: name, level: config.logLevel });
  const build = buildInfo(config.commit);
  // The first line of the log: whoever reads it later knows which sources wrote the others.
  log.info(build, 'starting');
  // Before anything is opened, since it throws for malformed keys: nothing has to be closed then.
  const { secretKeys } = config;
  const principals = openPrincipalVerifier({ secretKeys, audience: name, callers: callersOf(name) });
  const ownDatabase = { ...config.database, schema: schema.name };
  const database = openDatabase({ ...ownDatabase, application: `tocsin-${name}`, shared: true });
  const metrics = createMetrics(name);
  observeBuild(metrics, name, build);
  observeDatabase(database, metrics);
  const databaseCheck = databaseReadiness({ ...ownDatabase, application: `tocsin-${name}-health` });
  const broker = overrides.broker ?? new AmqpBroker({ url: config.amqpUrl, namespace: config.namespace, log });
  const brokerCheck: ReadinessCheck = {
    name: 'broker',
    required: false,
    check: async () => broker.confirms?.() ?? broker.connected,
  };
  return {
    log,
    build,
    metrics,
    principals,
    database,
    broker,
    databaseReadiness: databaseCheck,
    readinessChecks: [databaseCheck, brokerCheck],
    address: config.http,
    drainTime: config.drainTime,
    limits: config.serviceLimits ?? CONTRACT_LIMITS,
    checkReplies: overrides.checkReplies === true,
    firstRunWithin: overrides.firstRunWithin ?? FIRST_RUN_WITHIN,
    taskInterval: overrides.taskInterval ?? TASK_INTERVAL,
    closeBroker: async () => {
      if (overrides.broker === undefined) await broker.close();
    },
  };
}
