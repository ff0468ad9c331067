import {
  ensureDatabase,
  ensureSchemaOwner,
  maintenanceUrl,
  migrate,
  openMigrationSession,
  setRoleSettings,
} from '@tocsin/postgres';
import { describeStartFailure } from '@tocsin/runtime';
import type { MigrateConfig, SchemaTarget } from './config.ts';

/**
 * Creates the database, and each app's role and schema, if they are missing; then migrates every schema. Several
 * processes may do this concurrently.
 * @param print receives a line for each step, for what it waits for, and for what is left to the operator
 * @param only the schemas to migrate and the names of their migrations, for data of an earlier release; default: all
 */
export async function migrateAll(
  config: MigrateConfig,
  print: (line: string) => void,
  only?: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> {
  const targets = config.targets
    .filter(({ schema }) => only?.has(schema) !== false)
    .map((target) => withMigrations(target, only?.get(target.schema)));
  const managed = targets.filter(({ managed }) => managed);
  const external = targets.filter(({ managed }) => !managed);
  if (managed.length > 0) await ensureOwners(config, managed, print);
  if (external.length > 0) {
    print(`${external.map(({ schema }) => schema).join(', ')}: database and role are those of its own URL`);
  }
  await Promise.all(
    targets.map(async (target) => {
      const onWait = (message: string) => print(`${target.schema}: ${message}`);
      const applied = await withSchemaName(target, migrate(direct(target), { onWait }));
      if (target.sessionUrl !== undefined && (await withSchemaName(target, setRoleSettings(direct(target)))))
        print(`${target.schema}: the role has new settings; a pooler that runs needs new sessions (RECONNECT)`);
      print(`${target.schema}: ${applied.length === 0 ? 'up to date' : applied.join(', ')}`);
    }),
  );
}

/** The target by a direct connection. */
const direct = (target: SchemaTarget): SchemaTarget => ({ ...target, url: target.sessionUrl ?? target.url });

const withMigrations = (target: SchemaTarget, names: ReadonlySet<string> | undefined) =>
  names === undefined ? target : { ...target, only: new Set([...names].map((name) => `${name}.ts`)) };

async function ensureOwners(
  { databaseUrl, databaseVariable }: MigrateConfig,
  targets: SchemaTarget[],
  print: (line: string) => void,
): Promise<void> {
  try {
    // Roles belong to the whole server: concurrent changes of the same role fail.
    await withServerLock(databaseUrl, async () => {
      await ensureDatabase(databaseUrl);
      for (const target of targets) await ensureSchemaOwner(databaseUrl, direct(target));
    });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== INSUFFICIENT_PRIVILEGE && code !== NO_SUCH_DATABASE) {
      throw new Error(`${databaseVariable}: ${describeStartFailure(error)}`, { cause: error });
    }
    print(`the role of ${databaseVariable} may not create databases, roles or schemas (${message}): they must exist`);
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';
/** When there is no maintenance database `postgres`, which some hosts do not offer. */
const NO_SUCH_DATABASE = '3D000';

async function withServerLock(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  const client = await openMigrationSession(maintenanceUrl(databaseUrl));
  try {
    // Other processes hold the lock for moments only.
    await client.query(`set lock_timeout = '60s'`);
    await client.query(`select pg_advisory_lock(hashtext('tocsin-owners'))`);
    await work();
  } finally {
    // Closing the connection releases the lock.
    await client.end();
  }
}

async function withSchemaName<Result>({ schema }: SchemaTarget, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${schema}: ${describeStartFailure(error)}`, { cause: error });
  }
}
