import { ownDatabaseUrl } from '@tocsin/postgres';
import { type Environment, readConfig, redisSettings, setting } from '@tocsin/runtime';
import { egressOf, egressProblems, receiverSettings } from '@tocsin/safe-http';
import { replicaSettings, serviceConfig, serviceSettings } from '@tocsin/service-host/config';
import { schema } from './schema.ts';

const settings = {
  ...serviceSettings,
  ...redisSettings,
  ...replicaSettings,
  ...receiverSettings,
  CATALOG_DATABASE_URL: ownDatabaseUrl,
  GATEWAY_INTERNAL_URL: setting.serviceUrls,
  INCIDENT_URL: setting.serviceUrls,
};

export type CatalogConfig = ReturnType<typeof catalogConfig>;

/** @throws ConfigError naming each missing or malformed setting */
export function catalogConfig(env: Environment) {
  const read = readConfig(settings, env, egressProblems);
  return {
    ...serviceConfig(read, { schema, databaseUrl: read.CATALOG_DATABASE_URL }),
    redisUrl: read.REDIS_URL,
    replicaWait: read.REPLICA_WAIT_MS,
    egress: egressOf(read),
    internalUrls: { gateway: read.GATEWAY_INTERNAL_URL, incident: read.INCIDENT_URL },
  };
}
