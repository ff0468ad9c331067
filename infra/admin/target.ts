import type { Knex } from '@tocsin/postgres';
import type { Environment } from '@tocsin/runtime';
import { type AppName, APPS } from '../installation/apps.ts';
import { type Administration, administration, tellGateways } from '../../gateway/src/administration.ts';
import { UsageError } from '../cli/src/operation-parameters.ts';
import { openAppDatabase } from '../installation/databases.ts';
import { dataDirPath, findRunningInstance, type RunningInstance } from '../installation/data-dir.ts';
import { type MigrateConfig, migrateConfig, type SchemaTarget } from '../migrate/config.ts';
import { describeDatabase } from '../migrate/describe-database.ts';

/** What a command works on. */
export interface Target {
  readonly gateway: Administration;
  /** The settings that belong to the databases. */
  readonly env: Environment;
  /** Receives a line for stderr. */
  print: (line: string) => void;
  /** The connection as the role that owns an app's schema. @throws UsageError when no setting names its database */
  database(app: AppName): Knex;
  /** The keys that encrypt secrets at rest. @throws UsageError when they are not set */
  secretKeys(): string;
}

/** The databases that a command works on, and the settings that belong to them. */
interface DatabaseSelection {
  env: Environment;
  config: MigrateConfig;
  /** The instance that runs on the data folder, if any. */
  instance: RunningInstance | undefined;
  /** The databases of the running instance, when the settings name others; the settings take precedence. */
  ignored: MigrateConfig | undefined;
}

/**
 * Runs a command on the databases that the settings of `env` name, or else on those of the instance that runs on the
 * data folder. Closes the connections afterwards.
 * @param print receives a line that names each database before it is opened
 * @throws UsageError when no setting and no instance names a database
 */
export async function withTarget<Result>(
  env: Environment,
  print: (line: string) => void,
  work: (target: Target) => Promise<Result>,
): Promise<Result> {
  const selection = await selectDatabases(env);
  const opened = new Map<AppName, Knex>();
  const printed = new Set<string>();
  const open = (app: AppName): Knex => {
    const existing = opened.get(app);
    if (existing !== undefined) return existing;
    const target = findTarget(selection.config, app);
    if (target?.variable === undefined) throw new UsageError(missingDatabaseMessage(selection, app, env));
    const line = describeSelection(selection, target);
    if (!printed.has(line)) print(line);
    printed.add(line);
    const database = openAppDatabase(target, { application: 'tocsin-admin', poolSize: 2 });
    opened.set(app, database);
    return database;
  };
  try {
    return await work({
      gateway: administration(open('gateway')),
      env: selection.env,
      print,
      database: open,
      secretKeys: () => {
        const keys = selection.env['TOCSIN_SECRET_KEYS'] ?? '';
        if (keys === '') throw new UsageError('TOCSIN_SECRET_KEYS must be set as the services have it');
        return keys;
      },
    });
  } finally {
    await tellGateways(selection.env);
    await Promise.all(Array.from(opened.values(), async (database) => database.destroy()));
  }
}

/** Takes all databases from the settings or all from the instance: a mixture would split one workspace. */
async function selectDatabases(env: Environment): Promise<DatabaseSelection> {
  const instance = await findRunningInstance(dataDirPath(env));
  const config = migrateConfig(env);
  if (instance === undefined) return { env, config, instance, ignored: undefined };
  const instanceConfig = migrateConfig(instance.env);
  const named = config.targets.filter(({ variable }) => variable !== undefined);
  if (named.some(({ app, url }) => describeDatabase(url) !== describeTarget(instanceConfig, app))) {
    return { env, config, instance, ignored: instanceConfig };
  }
  const configured = Object.entries(env).filter(([, value]) => value !== undefined && value !== '');
  // The instance could not decrypt what is encrypted with other keys than its own.
  const { TOCSIN_SECRET_KEYS: keys } = instance.env;
  const merged = {
    ...instance.env,
    ...Object.fromEntries(configured),
    ...(keys !== undefined && { TOCSIN_SECRET_KEYS: keys }),
  };
  return { env: merged, config: migrateConfig(merged), instance, ignored: undefined };
}

const findTarget = ({ targets }: MigrateConfig, app: AppName) => targets.find((target) => target.app === app);

function describeTarget(config: MigrateConfig, app: AppName): string | undefined {
  const target = findTarget(config, app);
  return target && describeDatabase(target.url);
}

function describeSelection({ instance, ignored }: DatabaseSelection, { app, url, variable }: SchemaTarget): string {
  const using = `using ${describeDatabase(url)}`;
  if (instance === undefined) return `${using}, named by ${variable}`;
  if (ignored === undefined) return `${using}, of the instance at ${instance.baseUrl}`;
  const other = `the running instance at ${instance.baseUrl} (${describeTarget(ignored, app)})`;
  return `${using}, named by ${variable}; not the settings of ${other}`;
}

function missingDatabaseMessage({ config, instance }: DatabaseSelection, app: AppName, env: Environment): string {
  if (config.targets.some(({ variable }) => variable !== undefined)) {
    const solution = `set ${APPS[app].databaseVariable} or DATABASE_URL as the services have it`;
    return `the database of the ${app} service is not named: ${solution}`;
  }
  if (instance !== undefined) {
    return `the instance at ${instance.baseUrl} does not say where its databases are: restart it, or set DATABASE_URL`;
  }
  return (
    `no database is named, and no instance runs on ${dataDirPath(env)}: start one (make start, make services), ` +
    `name its data folder (TOCSIN_DATA_DIR), or set DATABASE_URL or ${APPS[app].databaseVariable} as the services have it`
  );
}
