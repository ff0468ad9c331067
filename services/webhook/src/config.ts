import { type Environment, ownDatabaseUrl, readConfig, testReceiverSettings, testReceiversOf } from '@tocsin/runtime';
import { serviceConfig, serviceSettings } from '@tocsin/service';
import { z } from 'zod';
import { schema } from './schema.ts';

const settings = {
  ...serviceSettings,
  ...testReceiverSettings,
  WEBHOOK_DATABASE_URL: ownDatabaseUrl,
  /** What `resource.url` of an event links to, with {workspace}, {id} and {reference}; without it events have no link. */
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
    testReceivers: testReceiversOf(read),
    resourceUrl: read.WEBHOOK_RESOURCE_URL,
  };
}
