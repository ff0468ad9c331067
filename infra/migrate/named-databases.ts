import { ConfigError, type Environment } from '@tocsin/runtime';
import { APPS } from '../installation/apps.ts';
import { type MigrateConfig, migrateConfig } from './config.ts';
import { describeDatabase } from './describe-database.ts';

/**
 * Returns the databases for a command that writes to all of them. There is no default for what is written to.
 * @param print receives a line for each database
 * @throws ConfigError when a setting is malformed, or when no setting names an app's database
 */
export function namedDatabases(env: Environment, print: (line: string) => void): MigrateConfig {
  const config = migrateConfig(env);
  const unnamed = config.targets
    .filter(({ variable }) => variable === undefined)
    .map(({ app }) => APPS[app].databaseVariable);
  if (unnamed.length > 0) {
    throw new ConfigError(
      `DATABASE_URL: is not set, nor ${unnamed.join(', ')}: name the database that is to be written to`,
    );
  }
  const targetsByDatabase = Map.groupBy(config.targets, ({ url }) => describeDatabase(url));
  for (const [place, targets] of targetsByDatabase) {
    const variables = [...new Set(targets.map(({ variable }) => variable))];
    print(`using ${place}, named by ${variables.join(', ')}`);
  }
  return config;
}
