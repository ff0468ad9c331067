import {
  brokerSettings,
  ConfigError,
  databaseSettings,
  type Environment,
  ownDatabaseUrl,
  processSettings,
  readConfig,
  setting,
  urlForRole,
} from '@tocsin/runtime';
import { z } from 'zod';

const HOST_AND_PORT = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\]):[1-9]\d{0,4}$/;

const settings = {
  ...processSettings,
  ...databaseSettings,
  ...brokerSettings,
  WEBHOOK_DATABASE_URL: ownDatabaseUrl,
  /** Receivers on loopback that tests and demos may use: exact `host:port` pairs. */
  WEBHOOK_TEST_RECEIVERS: setting.list
    .transform((pairs) => pairs.map((pair) => pair.toLowerCase()))
    .refine((pairs) => pairs.every((pair) => HOST_AND_PORT.test(pair)), 'must be host:port pairs, comma-separated')
    .default([]),
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
  if (read.NODE_ENV === 'production' && read.WEBHOOK_TEST_RECEIVERS.length > 0) {
    throw new ConfigError('WEBHOOK_TEST_RECEIVERS: opens loopback addresses and must not be set in production');
  }
  return {
    http: { host: read.HOST, port: read.PORT },
    logLevel: read.LOG_LEVEL,
    secretKeys: read.TOCSIN_SECRET_KEYS,
    namespace: read.TOCSIN_NAMESPACE,
    database: {
      url: read.WEBHOOK_DATABASE_URL ?? urlForRole(read.DATABASE_URL, 'tocsin_webhook'),
      poolSize: read.DATABASE_POOL_SIZE,
    },
    amqpUrl: read.AMQP_URL,
    testReceivers: new Set(read.WEBHOOK_TEST_RECEIVERS),
    resourceUrl: read.WEBHOOK_RESOURCE_URL,
  };
}
