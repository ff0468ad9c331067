import {
  brokerSettings,
  databaseSettings,
  type Environment,
  ownDatabaseUrl,
  processSettings,
  readConfig,
  redisSettings,
  urlForRole,
} from '@tocsin/runtime';

const settings = {
  ...processSettings,
  ...databaseSettings,
  ...brokerSettings,
  ...redisSettings,
  CUSTOM_FIELD_DATABASE_URL: ownDatabaseUrl,
};

export type CustomFieldConfig = ReturnType<typeof customFieldConfig>;

/** @throws ConfigError naming each setting that is missing or malformed */
export function customFieldConfig(env: Environment) {
  const read = readConfig(settings, env);
  return {
    http: { host: read.HOST, port: read.PORT },
    logLevel: read.LOG_LEVEL,
    secretKeys: read.TOCSIN_SECRET_KEYS,
    namespace: read.TOCSIN_NAMESPACE,
    database: {
      url: read.CUSTOM_FIELD_DATABASE_URL ?? urlForRole(read.DATABASE_URL, 'tocsin_custom_field'),
      poolSize: read.DATABASE_POOL_SIZE,
    },
    amqpUrl: read.AMQP_URL,
    redisUrl: read.REDIS_URL,
  };
}
