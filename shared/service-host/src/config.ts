import { bodySettings, IDEMPOTENCY_HOURS, MAX_BODY_BYTES } from '@tocsin/http';
import { INBOX_DAYS } from '@tocsin/messaging';
import { type DatabaseOptions, databaseSettings, poolOptions, roleOf, urlForRole } from '@tocsin/postgres';
import { brokerSettings, drainTimeOf, processSettings, type readConfig, setting } from '@tocsin/runtime';

/**
 * How long rows are kept that detect repetitions. Clients rely on 24 hours for keys. An inbox must be longer than any
 * outage after which an event is published again.
 */
export const retentionSettings = {
  IDEMPOTENCY_RETENTION_HOURS: setting.integer({ min: IDEMPOTENCY_HOURS, max: 720 }).default(IDEMPOTENCY_HOURS),
  INBOX_RETENTION_DAYS: setting.integer({ min: 1, max: 90 }).default(INBOX_DAYS),
};

/** The settings of services with replicas. */
export const replicaSettings = {
  /** How long a request waits for changes. One page of them may take longer than the longest wait. */
  REPLICA_WAIT_MS: setting.integer({ min: 100, max: 5_000 }).default(800),
};

/** The settings that all services have. A service adds the URL of its own database and its other settings. */
export const serviceSettings = {
  ...processSettings,
  ...databaseSettings,
  ...brokerSettings,
  ...bodySettings,
  ...retentionSettings,
};

/** The limits of every service that are settings. */
export interface ServiceLimits {
  /** Bytes of a request body. */
  bodyBytes: number;
  /** How long the outcome of an Idempotency-Key is kept. */
  idempotencyHours: number;
  /** How long rows of the inbox are kept. */
  inboxDays: number;
}

/** The configuration that follows from `serviceSettings`. */
export interface ServiceConfig {
  http: { host: string; port: number };
  /** How long a process that stops announces it before it closes its connections; milliseconds. */
  drainTime: number;
  logLevel: string;
  /** The commit that the image was built from, if a setting says it. */
  commit?: string | undefined;
  secretKeys: string;
  /** The prefix of every name on the broker and in Redis, and of the role in the database. */
  namespace: string;
  database: Pick<DatabaseOptions, 'url' | 'poolSize' | 'deadlines' | 'sharesSessions'>;
  amqpUrl: string;
  /** Default: those of the contract. */
  serviceLimits?: ServiceLimits;
}

export const CONTRACT_LIMITS: ServiceLimits = {
  bodyBytes: MAX_BODY_BYTES,
  idempotencyHours: IDEMPOTENCY_HOURS,
  inboxDays: INBOX_DAYS,
};

/**
 * Returns the part of a service's configuration that all services have.
 * @param app the service's schema, and the URL of its own database if one is set. Without one, the service connects to
 *   the server of `DATABASE_URL` as the role that owns the schema.
 */
export function serviceConfig(
  read: ReturnType<typeof readConfig<typeof serviceSettings>>,
  app: { schema: { readonly name: string }; databaseUrl: string | undefined },
): ServiceConfig & { serviceLimits: ServiceLimits } {
  return {
    http: { host: read.HOST, port: read.PORT },
    drainTime: drainTimeOf(read),
    logLevel: read.LOG_LEVEL,
    commit: read.TOCSIN_COMMIT,
    secretKeys: read.TOCSIN_SECRET_KEYS,
    namespace: read.TOCSIN_NAMESPACE,
    database: {
      url: app.databaseUrl ?? urlForRole(read.DATABASE_URL, roleOf(read.TOCSIN_NAMESPACE, app.schema.name)),
      ...poolOptions(read),
    },
    amqpUrl: read.AMQP_URL,
    serviceLimits: {
      bodyBytes: read.MAX_BODY_BYTES,
      idempotencyHours: read.IDEMPOTENCY_RETENTION_HOURS,
      inboxDays: read.INBOX_RETENTION_DAYS,
    },
  };
}
