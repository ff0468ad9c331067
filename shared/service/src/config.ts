import { brokerSettings, databaseSettings, processSettings, type readConfig, urlForRole } from '@tocsin/runtime';

/** The settings of every service; its own database URL and whatever else it needs come on top. */
export const serviceSettings = { ...processSettings, ...databaseSettings, ...brokerSettings };

/** What a service makes of its `serviceSettings`. */
export interface ServiceConfig {
  http: { host: string; port: number };
  logLevel: string;
  secretKeys: string;
  /** Begins every name on the broker and in Redis. */
  namespace: string;
  database: { url: string; poolSize: number };
  amqpUrl: string;
}

/**
 * The part of a service's configuration that all have.
 * @param own the service's schema, and the URL of its own database where one is set; else the role that owns the schema is
 *   used on the server of `DATABASE_URL`
 */
export function serviceConfig(
  read: ReturnType<typeof readConfig<typeof serviceSettings>>,
  own: { schema: { readonly name: string }; databaseUrl: string | undefined },
): ServiceConfig {
  return {
    http: { host: read.HOST, port: read.PORT },
    logLevel: read.LOG_LEVEL,
    secretKeys: read.TOCSIN_SECRET_KEYS,
    namespace: read.TOCSIN_NAMESPACE,
    database: {
      url: own.databaseUrl ?? urlForRole(read.DATABASE_URL, `tocsin_${own.schema.name}`),
      poolSize: read.DATABASE_POOL_SIZE,
    },
    amqpUrl: read.AMQP_URL,
  };
}
