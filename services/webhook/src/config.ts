import {
  type Environment,
  ownDatabaseUrl,
  readConfig,
  setting,
  testReceiverSettings,
  testReceiversOf,
} from '@tocsin/runtime';
import { serviceConfig, serviceSettings } from '@tocsin/service';
import { z } from 'zod';
import { schema } from './schema.ts';

const settings = {
  ...serviceSettings,
  ...testReceiverSettings,
  WEBHOOK_DATABASE_URL: ownDatabaseUrl,
  /** Days that the event feed keeps events. */
  WEBHOOK_FEED_RETENTION_DAYS: z.coerce.number().int().min(1).max(3_650).default(30),
  INCIDENT_URL: setting.serviceUrls,
  /** Template of `resource.url` in events, with {workspace}, {id} and {reference}. Without it events have no link. */
  WEBHOOK_RESOURCE_URL: z
    .string()
    .refine((template) => URL.canParse(template.replaceAll(/\{(workspace|id|reference)\}/g, '1')), 'must be a URL')
    .optional(),
};

export type WebhookConfig = ReturnType<typeof webhookConfig>;

/** @throws ConfigError naming each setting that is missing or malformed */
export function webhookConfig(env: Environment) {
  const read = readConfig(settings, env);
  return {
    ...serviceConfig(read, { schema, databaseUrl: read.WEBHOOK_DATABASE_URL }),
    incidentUrls: read.INCIDENT_URL,
    testReceivers: testReceiversOf(read),
    resourceUrl: read.WEBHOOK_RESOURCE_URL,
    feedRetentionDays: read.WEBHOOK_FEED_RETENTION_DAYS,
  };
}
