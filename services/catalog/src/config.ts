import {
  brokerSettings,
  databaseSettings,
  type Environment,
  ownDatabaseUrl,
  processSettings,
  readConfig,
  redisSettings,
  setting,
  urlForRole,
} from '@tocsin/runtime';

const settings = {
  ...processSettings,
  ...databaseSettings,
  ...brokerSettings,
  ...redisSettings,
  CATALOG_DATABASE_URL: ownDatabaseUrl,
  GATEWAY_INTERNAL_URL: setting.url(['http:', 'https:']),
  INCIDENT_URL: setting.url(['http:', 'https:']),
};

export type CatalogConfig = ReturnType<typeof catalogConfig>;

/** @throws ConfigError naming each setting that is missing or malformed */
export function catalogConfig(env: Environment) {
  const read = readConfig(settings, env);
  return {
    http: { host: read.HOST, port: read.PORT },
    logLevel: read.LOG_LEVEL,
    secretKeys: read.TOCSIN_SECRET_KEYS,
    namespace: read.TOCSIN_NAMESPACE,
    database: {
      url: read.CATALOG_DATABASE_URL ?? urlForRole(read.DATABASE_URL, 'tocsin_catalog'),
      poolSize: read.DATABASE_POOL_SIZE,
    },
    amqpUrl: read.AMQP_URL,
    redisUrl: read.REDIS_URL,
    neighbours: { users: read.GATEWAY_INTERNAL_URL, incidents: read.INCIDENT_URL },
  };
}
