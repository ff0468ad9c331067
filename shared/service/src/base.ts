import { PRINCIPAL_PURPOSE } from '@tocsin/http';
import { AmqpBroker, type Broker } from '@tocsin/messaging';
import {
  type Clock,
  createLogger,
  createMetrics,
  databaseDependency,
  type Dependency,
  type Keyring,
  type Knex,
  type Logger,
  type Metrics,
  openDatabase,
  openKeyring,
} from '@tocsin/runtime';
import type { ServiceConfig } from './config.ts';

/** What a caller may bring to any service instead of the real thing: the embedded way to run, and tests. */
export interface ServiceParts {
  log: Logger;
  clock: Clock;
  /** Stays its caller's: the service does not close it. */
  broker: Broker;
  /** In tests: every answer must be what its route declares. */
  checkReplies: boolean;
}

/** What every service stands on; `runService` closes it. */
export interface ServiceBase {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Signs and verifies principals. */
  readonly keyring: Keyring;
  /** Sees the service's schema alone. */
  readonly database: Knex;
  readonly broker: Broker;
  readonly dependencies: readonly Dependency[];
  /** Where requests are to come in. */
  readonly address: { host: string; port: number };
  readonly checkReplies: boolean;
  /** Leaves a broker alone that a caller brought. */
  closeBroker(): Promise<void>;
}

/** Opens what every service stands on. Nothing waits for a connection: each comes about when it can. */
export function openBase(options: {
  /** As in log lines and metrics. */
  name: string;
  schema: { readonly name: string };
  config: ServiceConfig;
  parts: Partial<ServiceParts>;
}): ServiceBase {
  const { name, schema, config, parts } = options;
  const log = parts.log ?? createLogger({ app: name, level: config.logLevel });
  // Before anything that would have to be closed: it refuses malformed keys.
  const keyring = openKeyring(config.secretKeys, PRINCIPAL_PURPOSE);
  const database = openDatabase({ ...config.database, schema: schema.name, application: `tocsin-${name}` });
  const broker = parts.broker ?? new AmqpBroker({ url: config.amqpUrl, namespace: config.namespace, log });
  return {
    log,
    metrics: createMetrics(name),
    keyring,
    database,
    broker,
    dependencies: [databaseDependency(database), { name: 'broker', vital: false, check: async () => broker.connected }],
    address: config.http,
    checkReplies: parts.checkReplies === true,
    closeBroker: async () => {
      if (parts.broker === undefined) await broker.close();
    },
  };
}
