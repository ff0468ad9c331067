import { databaseSettings, ownDatabaseUrl, roleOf, urlForRole } from '@tocsin/postgres';
import { changeUrl, ConfigError, type Environment, processSettings, readConfig, urlsOfHosts } from '@tocsin/runtime';
import { APP_NAMES, type AppName, APPS } from '../installation/apps.ts';

/** An app's schema, and the database that it goes into. */
export interface SchemaTarget {
  app: AppName;
  schema: string;
  /** The folder of its migrations. */
  migrations: string;
  /** As the role that owns the schema. */
  url: string;
  /** The same role on a direct connection, if `url` may be that of a pooler in transaction mode. */
  sessionUrl?: string;
  /** The variable that names the database; `undefined` where none does and it is the default. */
  variable: string | undefined;
  /** Whether we create database, role and schema: not for an app that has a database of its own. */
  managed: boolean;
}

export interface MigrateConfig {
  /** Its role creates what is managed. A direct connection. */
  databaseUrl: string;
  /** The setting that names it. */
  databaseVariable: 'DATABASE_URL' | 'DATABASE_SESSION_URL';
  targets: SchemaTarget[];
}

/** @throws ConfigError naming each setting that is malformed */
export function migrateConfig(env: Environment): MigrateConfig {
  const ownUrls = Object.fromEntries(APP_NAMES.map((app) => [APPS[app].databaseVariable, ownDatabaseUrl]));
  const { TOCSIN_NAMESPACE } = processSettings;
  const { DATABASE_URL, DATABASE_SESSION_URL } = databaseSettings;
  const read = readConfig({ DATABASE_URL, DATABASE_SESSION_URL, TOCSIN_NAMESPACE, ...ownUrls }, env) as Record<
    string,
    string | undefined
  > & { DATABASE_URL: string; TOCSIN_NAMESPACE: string };
  const { DATABASE_SESSION_URL: sessions } = read;
  const isShared = isSet(env['DATABASE_URL']);
  const targets = APP_NAMES.map((app): SchemaTarget => {
    const { schema, databaseVariable } = APPS[app];
    const ownUrl = read[databaseVariable];
    const url = ownUrl ?? urlForRole(read.DATABASE_URL, roleOf(read.TOCSIN_NAMESPACE, schema.name));
    const managed = ownUrl === undefined || (isShared && isSameDatabase(ownUrl, read.DATABASE_URL));
    return {
      app,
      schema: schema.name,
      migrations: schema.migrations,
      url,
      ...(sessions !== undefined && { sessionUrl: managed || !isShared ? asUserOf(url, sessions) : url }),
      variable: ownUrl !== undefined ? databaseVariable : isShared ? 'DATABASE_URL' : undefined,
      managed,
    };
  });
  if (sessions !== undefined) checkRoles(targets);
  return {
    databaseUrl: sessions === undefined ? read.DATABASE_URL : withUserOf(read.DATABASE_URL, sessions),
    databaseVariable: sessions === undefined ? 'DATABASE_URL' : 'DATABASE_SESSION_URL',
    targets,
  };
}

/** The second URL with the user of the first one. */
const asUserOf = (url: string, sessions: string): string => {
  const { username, password, pathname } = new URL(urlsOfHosts(url)[0]);
  return changeUrl(sessions, (parsed) => {
    Object.assign(parsed, { username, password });
    if (parsed.pathname.length <= 1) parsed.pathname = pathname;
  });
};

/** The same, if the second URL has no user. */
const withUserOf = (url: string, sessions: string): string =>
  new URL(urlsOfHosts(sessions)[0]).username === '' ? asUserOf(url, sessions) : sessions;

/** The search path of a pooler's session is its role's, and so that of one app. @throws ConfigError */
function checkRoles(targets: readonly SchemaTarget[]): void {
  const apps = Map.groupBy(targets, ({ sessionUrl = '' }) => sessionUrl.replace(/[?].*/, ''));
  for (const [url, [one, other]] of apps) {
    if (one === undefined || other === undefined) continue;
    const { username } = new URL(urlsOfHosts(url)[0]);
    throw new ConfigError(
      `DATABASE_SESSION_URL: needs a role of its own for each app, but ${one.app} and ${other.app} have the role ${username}`,
    );
  }
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
