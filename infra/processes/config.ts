import { databaseSettings } from '@tocsin/postgres';
import { brokerSettings, type Environment, readConfig, redisSettings, setting } from '@tocsin/runtime';
import { z } from 'zod';
import { dataDirPath } from '../installation/data-dir.ts';
import { logFormatSetting } from '../embedded/log-lines.ts';

/** Of each app, on one machine. */
const MAX_REPLICAS = 8;

const settings = {
  HOST: setting.loopback,
  PORT: setting.port.default(8080),
  METRICS_PORT: setting.port.optional(),
  REPLICAS: z.coerce.number().int().min(1).max(MAX_REPLICAS).default(1),
  NODE_ENV: z.string().optional(),
  TOCSIN_DEMO: setting.flag.optional(),
  ...logFormatSetting,
  DATABASE_URL: databaseSettings.DATABASE_URL,
  DATABASE_SESSION_URL: databaseSettings.DATABASE_SESSION_URL,
  ...brokerSettings,
  ...redisSettings,
};

export type LocalConfig = ReturnType<typeof localConfig>;

/** @throws ConfigError naming each setting that is malformed */
export function localConfig(env: Environment) {
  const { HOST, PORT, METRICS_PORT, REPLICAS, NODE_ENV, TOCSIN_DEMO, LOG_FORMAT, ...servers } = readConfig(
    settings,
    env,
    (read) =>
      read.METRICS_PORT !== undefined && read.REPLICAS > 1
        ? ['METRICS_PORT: must not be set with REPLICAS: the metrics of two processes of an app are two targets']
        : [],
  );
  return {
    dataDir: dataDirPath(env),
    http: { host: HOST, port: PORT },
    /** Of the metrics of all apps; undefined: they are not served together. */
    metricsPort: METRICS_PORT,
    /** How many processes of each app. The gateways have the ports from `PORT` on. */
    replicas: REPLICAS,
    /** Whether an empty database gets the demo workspace. */
    demo: TOCSIN_DEMO ?? NODE_ENV !== 'production',
    logFormat: LOG_FORMAT ?? (process.stdout.isTTY ? ('pretty' as const) : ('json' as const)),
    /** The servers that the apps use, including defaults: commands have no defaults of their own. */
    servers,
  };
}
