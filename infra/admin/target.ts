import { type Environment, type Knex, openDatabase } from '@tocsin/runtime';
import { type Administration, administration, openGatewayDatabase } from '../../gateway/src/administration.ts';
import { dataDirPath, findInstance } from '../data-dir.ts';
import { migrateConfig } from '../migrate/config.ts';
import { UsageError } from './usage-error.ts';

/** What a command works on. */
export interface Target {
  gateway: Administration;
  /** A connection as the role that owns another service's schema. */
  database(schema: 'incident' | 'catalog'): Knex;
  /** What secrets at rest are sealed with. @throws UsageError where the instance's keys are not known */
  secretKeys(): string;
}

/** Runs a command on the databases of `env`, and lets go of them. */
export async function withTarget<Result>(env: Environment, work: (target: Target) => Promise<Result>): Promise<Result> {
  const opened: Knex[] = [];
  const open = (database: Knex): Knex => {
    opened.push(database);
    return database;
  };
  try {
    return await work({
      gateway: administration(open(openGatewayDatabase(env))),
      database: (schema) => {
        const { url } = migrateConfig(env).targets.find((target) => target.schema === schema) ?? { url: '' };
        return open(openDatabase({ url, schema, application: 'tocsin-admin', poolSize: 2 }));
      },
      secretKeys: () => {
        const keys = env['TOCSIN_SECRET_KEYS'] ?? '';
        if (keys === '') throw new UsageError('TOCSIN_SECRET_KEYS must be set as the services have it');
        return keys;
      },
    });
  } finally {
    await Promise.all(opened.map(async (database) => database.destroy()));
  }
}

/** The environment, and below it that of the instance that runs on the data folder, if one does. */
export async function targetEnvironment(env: Environment): Promise<Environment> {
  const instance = await findInstance(dataDirPath(env));
  if (instance === undefined || !isRunning(instance.pid)) return env;
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '');
  return { ...instance.env, ...Object.fromEntries(given) };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is one all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
