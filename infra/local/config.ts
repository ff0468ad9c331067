import { type Environment, processSettings, readConfig, setting } from '@tocsin/runtime';
import { dataDirPath } from '../data-dir.ts';

const settings = {
  HOST: processSettings.HOST,
  PORT: setting.port.default(8080),
};

export type LocalConfig = ReturnType<typeof localConfig>;

/** @throws ConfigError naming each setting that is malformed */
export function localConfig(env: Environment) {
  const read = readConfig(settings, env);
  return { dataDir: dataDirPath(env), http: { host: read.HOST, port: read.PORT } };
}
