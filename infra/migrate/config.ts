import { databaseSettings, ownDatabaseUrl, roleOf, urlForRole } from '@tocsin/postgres';
import { type Environment, processSettings, readConfig, urlsOfHosts } from '@tocsin/runtime';
import { APP_NAMES, type AppName, APPS } from '../installation/apps.ts';

/** An app's schema, and the database that it goes into. */
export interface SchemaTarget {
  app: AppName;
  schema: string;
  /** The folder of its migrations. */
  migrations: string;
  /** As the role that owns the schema. */
  url: string;
  /** The variable that names the database; `undefined` where none does and it is the default. */
  variable: string | undefined;
  /** Whether we create database, role and schema: not for an app that has a database of its own. */
  managed: boolean;
}

export interface MigrateConfig {
  /** Its role creates what is managed. */
  databaseUrl: string;
  targets: SchemaTarget[];
}

/** @throws ConfigError naming each setting that is malformed */
export function migrateConfig(env: Environment): MigrateConfig {
  const ownUrls = Object.fromEntries(APP_NAMES.map((app) => [APPS[app].databaseVariable, ownDatabaseUrl]));
  const { TOCSIN_NAMESPACE } = processSettings;
  const read = readConfig({ DATABASE_URL: databaseSettings.DATABASE_URL, TOCSIN_NAMESPACE, ...ownUrls }, env) as Record<
    string,
    string | undefined
  > & { DATABASE_URL: string; TOCSIN_NAMESPACE: string };
  const isShared = isSet(env['DATABASE_URL']);
  return {
    databaseUrl: read.DATABASE_URL,
    targets: APP_NAMES.map((app) => {
      const { schema, databaseVariable } = APPS[app];
      const url = read[databaseVariable];
      return {
        app,
        schema: schema.name,
        migrations: schema.migrations,
        url: url ?? urlForRole(read.DATABASE_URL, roleOf(read.TOCSIN_NAMESPACE, schema.name)),
        variable: url !== undefined ? databaseVariable : isShared ? 'DATABASE_URL' : undefined,
        managed: url === undefined || (isShared && isSameDatabase(url, read.DATABASE_URL)),
      };
    }),
  };
}

const isSet = (value: string | undefined) => value !== undefined && value !== '';

function isSameDatabase(one: string, other: string): boolean {
  const databasesOf = (url: string) =>
    urlsOfHosts(url).map((each) => {
      const { hostname, port, pathname } = new URL(each);
      return `${hostname}:${port || '5432'}${pathname}`;
    });
  return databasesOf(one).join() === databasesOf(other).join();
}
