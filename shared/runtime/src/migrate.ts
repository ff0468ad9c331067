import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';

export interface SchemaOwner {
  /** The URL of the role that owns the schema. */
  url: string;
  schema: string;
  /** The folder of the owner's migrations. */
  migrations: string;
  /** The file names of the migrations that are to run; default: all. */
  only?: ReadonlySet<string>;
}

/**
 * Milliseconds that a migration waits for another process that migrates the same schema. The statements themselves have
 * no limit: an index on a large table may take hours.
 */
const LOCK_TIMEOUT = 600_000;

/** A server that has vanished is noticed within fifteen seconds, however long its statement takes. */
const CONNECTION = { connectionTimeoutMillis: 5_000, keepAlive: true, keepAliveInitialDelayMillis: 5_000 };

const quote = (identifier: string) => pg.escapeIdentifier(identifier);

/** Runs a CREATE statement; ignores that a concurrent process created the same object. */
async function createUnlessExists(client: pg.Client, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== '42710' && code !== '42P04' && code !== '23505' && code !== '42P06') throw error;
  }
}

/** Creates the database of `url` unless it exists. */
export async function ensureDatabase(url: string): Promise<void> {
  const { pathname } = new URL(url);
  const name = decodeURIComponent(pathname.slice(1));
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  await withClient(maintenance.href, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await createUnlessExists(client, `create database ${quote(name)}`);
  });
}

/**
 * Creates an owner's role and schema in the database of `adminUrl`, whose role needs the privileges for that. The
 * owner's role has privileges on its own schema only.
 */
export async function ensureSchemaOwner(adminUrl: string, owner: SchemaOwner): Promise<void> {
  const { username, password, pathname } = new URL(owner.url);
  const role = decodeURIComponent(username);
  await withClient(adminUrl, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role]);
    if (rowCount === 0) await createUnlessExists(client, `create role ${quote(role)} login`);
    if (password !== '') {
      await client.query(`alter role ${quote(role)} password ${pg.escapeLiteral(decodeURIComponent(password))}`);
    }
    // Since Postgres 16 a role that is not a superuser can transfer a schema only to a role that it is a member of.
    const { rows } = await client.query<{ rolsuper: boolean }>(
      'select rolsuper from pg_roles where rolname = current_user',
    );
    if (rows[0]?.rolsuper !== true) await client.query(`grant ${quote(role)} to current_user`);
    await client.query(`grant connect on database ${quote(decodeURIComponent(pathname.slice(1)))} to ${quote(role)}`);
    await createUnlessExists(client, `create schema ${quote(owner.schema)}`);
    await client.query(`alter schema ${quote(owner.schema)} owner to ${quote(role)}`);
  });
}

/** Runs an owner's pending migrations and returns their names. Safe to run from several processes at once. */
export async function migrate(owner: SchemaOwner): Promise<string[]> {
  const knex = knexFactory({
    client: 'pg',
    connection: { connectionString: owner.url, ...CONNECTION } as Knex.PgConnectionConfig,
    searchPath: [owner.schema],
    pool: { min: 0, max: 2 },
    // knex would print what it also throws.
    log: { warn: () => undefined, error: () => undefined },
  });
  try {
    // knex's own lock makes a concurrent run fail; an advisory lock makes it wait.
    return await knex.transaction(async (lock) => {
      await lock.raw(`set local lock_timeout = ${LOCK_TIMEOUT}`);
      await lock.raw('select pg_advisory_xact_lock(hashtext(?))', [`tocsin-migrate-${owner.schema}`]);
      // Not IF NOT EXISTS: it requires the privilege to create schemas even if the schema exists.
      const existing = await knex.raw<{ rows: unknown[] }>('select 1 from pg_namespace where nspname = ?', [
        owner.schema,
      ]);
      if (existing.rows.length === 0) await knex.raw('create schema ??', [owner.schema]);
      const [, ran] = (await knex.migrate.latest({
        migrationSource: migrationsIn(owner),
        schemaName: owner.schema,
        tableName: 'migrations',
      })) as [number, string[]];
      return ran;
    });
  } finally {
    await knex.destroy();
  }
}

function migrationsIn({ migrations: folder, only }: SchemaOwner): Knex.MigrationSource<string> {
  return {
    getMigrations: async () =>
      (await readdir(folder)).filter((name) => name.endsWith('.ts') && only?.has(name) !== false).sort(),
    getMigrationName: (name) => path.basename(name, '.ts'),
    getMigration: async (name) => (await import(pathToFileURL(path.join(folder, name)).href)) as Knex.Migration,
  };
}

/** The names of all migrations in a folder, in their order. */
export const listMigrations = async (folder: string): Promise<string[]> =>
  (await readdir(folder))
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.basename(name, '.ts'))
    .sort();

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, ...CONNECTION });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
