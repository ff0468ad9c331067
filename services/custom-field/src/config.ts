import { ownDatabaseUrl } from '@tocsin/postgres';
import { type Environment, readConfig, redisSettings } from '@tocsin/runtime';
import { serviceConfig, serviceSettings } from '@tocsin/service-host/config';
import { schema } from './schema.ts';

const settings = { ...serviceSettings, ...redisSettings, CUSTOM_FIELD_DATABASE_URL: ownDatabaseUrl };

export type CustomFieldConfig = ReturnType<typeof customFieldConfig>;

/** @throws ConfigError naming each missing or malformed setting */
export function customFieldConfig(env: Environment) {
  const read = readConfig(settings, env);
  return {
    ...serviceConfig(read, { schema, databaseUrl: read.CUSTOM_FIELD_DATABASE_URL }),
    redisUrl: read.REDIS_URL,
  };
}
