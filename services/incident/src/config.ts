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
  INCIDENT_DATABASE_URL: ownDatabaseUrl,
  GATEWAY_INTERNAL_URL: setting.serviceUrls,
  CATALOG_URL: setting.serviceUrls,
  CUSTOM_FIELD_URL: setting.serviceUrls,
  PUBLIC_URL: setting.publicUrl.optional(),
  ATTACHMENT_BASE_URL: setting.url(['http:', 'https:']).optional(),
  /** The base URL of the API instead of Slack's. */
  SLACK_API_URL: setting.url(['http:', 'https:']).optional(),
};

export type IncidentConfig = ReturnType<typeof incidentConfig>;

/** @throws ConfigError naming each setting that is missing or malformed */
export function incidentConfig(env: Environment) {
  const read = readConfig(settings, env, egressProblems);
  return {
    ...serviceConfig(read, { schema, databaseUrl: read.INCIDENT_DATABASE_URL }),
    redisUrl: read.REDIS_URL,
    replicaWait: read.REPLICA_WAIT_MS,
    owners: { users: read.GATEWAY_INTERNAL_URL, catalog: read.CATALOG_URL, customFields: read.CUSTOM_FIELD_URL },
    attachmentBaseUrl: read.ATTACHMENT_BASE_URL,
    publicUrl: read.PUBLIC_URL,
    egress: egressOf(read),
    slackApiUrl: read.SLACK_API_URL,
  };
}
