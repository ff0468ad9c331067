import {
  brokerSettings,
  databaseSettings,
  type Environment,
  readConfig,
  redisSettings,
  setting,
} from '@tocsin/runtime';
import { dataDirPath } from '../data-dir.ts';

const settings = {
  HOST: setting.loopback,
  PORT: setting.port.default(8080),
  DATABASE_URL: databaseSettings.DATABASE_URL,
  ...brokerSettings,
  ...redisSettings,
};

export type LocalConfig = ReturnType<typeof localConfig>;

/** @throws ConfigError naming each setting that is malformed */
export function localConfig(env: Environment) {
  const { HOST, PORT, ...servers } = readConfig(settings, env);
  return {
    dataDir: dataDirPath(env),
    http: { host: HOST, port: PORT },
    /** The servers that the apps use, including defaults: commands have no defaults of their own. */
    servers,
  };
}
