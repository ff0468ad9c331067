import {
  brokerSettings,
  databaseSettings,
  type Environment,
  readConfig,
  redisSettings,
  setting,
} from '@tocsin/runtime';
import { z } from 'zod';
import { dataDirPath } from '../data-dir.ts';

const settings = {
  HOST: setting.loopback,
  PORT: setting.port.default(8080),
  NODE_ENV: z.string().optional(),
  TOCSIN_DEMO: setting.flag.optional(),
  DATABASE_URL: databaseSettings.DATABASE_URL,
  ...brokerSettings,
  ...redisSettings,
};

export type LocalConfig = ReturnType<typeof localConfig>;

/** @throws ConfigError naming each setting that is malformed */
export function localConfig(env: Environment) {
  const { HOST, PORT, NODE_ENV, TOCSIN_DEMO, ...servers } = readConfig(settings, env);
  return {
    dataDir: dataDirPath(env),
    http: { host: HOST, port: PORT },
    /** Whether an empty database gets the demo workspace. */
    demo: TOCSIN_DEMO ?? NODE_ENV !== 'production',
    /** The servers that the apps use, including defaults: commands have no defaults of their own. */
    servers,
  };
}
