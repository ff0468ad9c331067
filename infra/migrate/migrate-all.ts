import { describeStartFailure, ensureDatabase, ensureOwner, migrate } from '@tocsin/runtime';
import pg from 'pg';
import type { MigrateConfig, SchemaTarget } from './config.ts';

/**
 * Makes the database, and each service's role and schema, where there are none; then brings every schema up to date. Any
 * number of processes may do this at once.
 * @param tell gets a line for everything that was done, or left to somebody else
 */
export async function migrateAll({ databaseUrl, targets }: MigrateConfig, tell: (line: string) => void): Promise<void> {
  const ours = targets.filter(({ ensured }) => ensured);
  const others = targets.filter(({ ensured }) => !ensured);
  if (ours.length > 0) await ensure(databaseUrl, ours, tell);
  if (others.length > 0) {
    tell(`${others.map(({ schema }) => schema).join(', ')}: database and role are as their own URL has them`);
  }
  await Promise.all(
    targets.map(async (target) => {
      const ran = await naming(target, migrate(target));
      tell(`${target.schema}: ${ran.length === 0 ? 'up to date' : ran.join(', ')}`);
    }),
  );
}

async function ensure(databaseUrl: string, targets: SchemaTarget[], tell: (line: string) => void): Promise<void> {
  try {
    // Roles belong to the whole server: two that change one at the same time fail each other.
    await withServerLock(databaseUrl, async () => {
      await ensureDatabase(databaseUrl);
      for (const target of targets) await ensureOwner(databaseUrl, target);
    });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== INSUFFICIENT_PRIVILEGE && code !== NO_SUCH_DATABASE) {
      throw new Error(`DATABASE_URL: ${describeStartFailure(error)}`, { cause: error });
    }
    tell(`the role of DATABASE_URL may not make databases, roles or schemas (${message}): they have to be there`);
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';
/** Of the maintenance database \`postgres\`, which some hosts do not offer. */
const NO_SUCH_DATABASE = '3D000';

async function withServerLock(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  const maintenance = new URL(databaseUrl);
  maintenance.pathname = '/postgres';
  const client = new pg.Client({ connectionString: maintenance.href, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await client.query(`select pg_advisory_lock(hashtext('tocsin-owners'))`);
    await work();
  } finally {
    // The lock goes with the connection.
    await client.end();
  }
}

async function naming<Result>({ schema }: SchemaTarget, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${schema}: ${describeStartFailure(error)}`, { cause: error });
  }
}
