import { databaseSettings } from '@tocsin/postgres';
import { type Environment, processSettings, readConfig, setting } from '@tocsin/runtime';
import { dataDirPath } from '../installation/data-dir.ts';
import { logFormatSetting } from './log-lines.ts';
import { PORT_SETTING } from '../demo/sample-webhook.ts';

const settings = {
  LOG_LEVEL: processSettings.LOG_LEVEL,
  ...logFormatSetting,
  HOST: setting.loopback,
  PORT: setting.port.default(8080),
  METRICS_PORT: setting.port.optional(),
  DATABASE_POOL_SIZE: databaseSettings.DATABASE_POOL_SIZE,
  TOCSIN_DEMO: setting.flag.default(true),
  NODE_ENV: processSettings.NODE_ENV,
  [PORT_SETTING]: setting.port.default(9443),
};

export type EmbeddedConfig = ReturnType<typeof embeddedConfig>;

/** @throws ConfigError naming each setting that is malformed */
export function embeddedConfig(env: Environment) {
  const read = readConfig(settings, env);
  return {
    dataDir: dataDirPath(env),
    http: { host: read.HOST, port: read.PORT },
    /** Undefined: the one after the gateway's. */
    metricsPort: read.METRICS_PORT,
    logLevel: read.LOG_LEVEL,
    /** Of the log file; no lines are printed. */
    logFormat: read.LOG_FORMAT,
    poolSize: read.DATABASE_POOL_SIZE,
    demo: read.TOCSIN_DEMO,
    /** Undefined in production, which allows no receiver on this machine. */
    receiverPort: read.TOCSIN_DEMO && read.NODE_ENV !== 'production' ? read[PORT_SETTING] : undefined,
  };
}
