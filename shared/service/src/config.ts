import {
  brokerSettings,
  databaseSettings,
  drainTimeOf,
  processSettings,
  type readConfig,
  urlForRole,
} from '@tocsin/runtime';

/** The settings that all services have. A service adds the URL of its own database and its other settings. */
export const serviceSettings = { ...processSettings, ...databaseSettings, ...brokerSettings };

/** The configuration that follows from `serviceSettings`. */
export interface ServiceConfig {
  http: { host: string; port: number };
  /** How long a process that stops announces it before it closes its connections; milliseconds. */
  drainTime: number;
  logLevel: string;
  /** The commit that the image was built from, if a setting says it. */
  commit?: string | undefined;
  secretKeys: string;
  /** The prefix of every name on the broker and in Redis. */
  namespace: string;
  database: { url: string; poolSize: number };
  amqpUrl: string;
}

/**
 * Returns the part of a service's configuration that all services have.
 * @param own the service's schema, and the URL of its own database if one is set. Without one, the service connects to
 *   the server of `DATABASE_URL` as the role that owns the schema.
 */
export function serviceConfig(
  read: ReturnType<typeof readConfig<typeof serviceSettings>>,
  own: { schema: { readonly name: string }; databaseUrl: string | undefined },
): ServiceConfig {
  return {
    http: { host: read.HOST, port: read.PORT },
    drainTime: drainTimeOf(read),
    logLevel: read.LOG_LEVEL,
    commit: read.TOCSIN_COMMIT,
    secretKeys: read.TOCSIN_SECRET_KEYS,
    namespace: read.TOCSIN_NAMESPACE,
    database: {
      url: own.databaseUrl ?? urlForRole(read.DATABASE_URL, `tocsin_${own.schema.name}`),
      poolSize: read.DATABASE_POOL_SIZE,
    },
    amqpUrl: read.AMQP_URL,
  };
}
