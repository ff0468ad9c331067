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
  INCIDENT_DATABASE_URL: ownDatabaseUrl,
  GATEWAY_INTERNAL_URL: setting.url(['http:', 'https:']),
  CATALOG_URL: setting.url(['http:', 'https:']),
  CUSTOM_FIELD_URL: setting.url(['http:', 'https:']),
  ATTACHMENT_BASE_URL: setting.url(['http:', 'https:']).optional(),
};

export type IncidentConfig = ReturnType<typeof incidentConfig>;

/** @throws ConfigError naming each setting that is missing or malformed */
export function incidentConfig(env: Environment) {
  const read = readConfig(settings, env);
  return {
    http: { host: read.HOST, port: read.PORT },
    logLevel: read.LOG_LEVEL,
    secretKeys: read.TOCSIN_SECRET_KEYS,
    namespace: read.TOCSIN_NAMESPACE,
    database: {
      url: read.INCIDENT_DATABASE_URL ?? urlForRole(read.DATABASE_URL, 'tocsin_incident'),
      poolSize: read.DATABASE_POOL_SIZE,
    },
    amqpUrl: read.AMQP_URL,
    redisUrl: read.REDIS_URL,
    owners: { users: read.GATEWAY_INTERNAL_URL, catalog: read.CATALOG_URL, customFields: read.CUSTOM_FIELD_URL },
    attachmentBaseUrl: read.ATTACHMENT_BASE_URL,
  };
}
