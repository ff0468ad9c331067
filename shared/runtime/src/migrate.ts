import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';

export interface Owner {
  /** Connects as the role that is to own the schema. */
  url: string;
  schema: string;
  /** The folder of the owner's migrations. */
  migrations: string;
}

const quote = (identifier: string) => pg.escapeIdentifier(identifier);

/** Retries what two concurrent creators of the same role or schema do to each other. */
async function once(client: pg.Client, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== '42710' && code !== '42P04' && code !== '23505' && code !== '42P06') throw error;
  }
}

/** Makes the database that `url` names, unless it is there. */
export async function ensureDatabase(url: string): Promise<void> {
  const { pathname } = new URL(url);
  const name = decodeURIComponent(pathname.slice(1));
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  await withClient(maintenance.href, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await once(client, `create database ${quote(name)}`);
  });
}

/**
 * Makes an owner's role and schema in the database of `adminUrl`, whose role must be allowed to.
 * The role sees no other owner's schema: it has rights on its own only.
 */
export async function ensureOwner(adminUrl: string, owner: Owner): Promise<void> {
  const { username, password, pathname } = new URL(owner.url);
  const role = decodeURIComponent(username);
  await withClient(adminUrl, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role]);
    if (rowCount === 0) await once(client, `create role ${quote(role)} login`);
    if (password !== '') {
      await client.query(`alter role ${quote(role)} password ${pg.escapeLiteral(decodeURIComponent(password))}`);
    }
    // Postgres 16 and later let a role that is no superuser hand a schema over only to a role it is a member of.
    const { rows } = await client.query<{ rolsuper: boolean }>(
      'select rolsuper from pg_roles where rolname = current_user',
    );
    if (rows[0]?.rolsuper !== true) await client.query(`grant ${quote(role)} to current_user`);
    await client.query(`grant connect on database ${quote(decodeURIComponent(pathname.slice(1)))} to ${quote(role)}`);
    await once(client, `create schema ${quote(owner.schema)}`);
    await client.query(`alter schema ${quote(owner.schema)} owner to ${quote(role)}`);
  });
}

/** Brings an owner's schema up to date. Safe to run from several processes at once; answers what it ran. */
export async function migrate(owner: Owner): Promise<string[]> {
  const knex = knexFactory({
    client: 'pg',
    connection: owner.url,
    searchPath: [owner.schema],
    pool: { min: 0, max: 2 },
    // What it would say is thrown too, and told by whoever catches it.
    log: { warn: () => undefined, error: () => undefined },
  });
  try {
    // knex's own lock fails a second runner at once; an advisory lock makes it wait for the first.
    return await knex.transaction(async (lock) => {
      await lock.raw('select pg_advisory_xact_lock(hashtext(?))', [`tocsin-migrate-${owner.schema}`]);
      // Not IF NOT EXISTS: that wants the right to create schemas even where there is nothing to create.
      const found = await knex.raw<{ rows: unknown[] }>('select 1 from pg_namespace where nspname = ?', [owner.schema]);
      if (found.rows.length === 0) await knex.raw('create schema ??', [owner.schema]);
      const [, ran] = (await knex.migrate.latest({
        migrationSource: migrationsIn(owner.migrations),
        schemaName: owner.schema,
        tableName: 'migrations',
      })) as [number, string[]];
      return ran;
    });
  } finally {
    await knex.destroy();
  }
}

function migrationsIn(folder: string): Knex.MigrationSource<string> {
  return {
    getMigrations: async () => (await readdir(folder)).filter((name) => name.endsWith('.ts')).sort(),
    getMigrationName: (name) => path.basename(name, '.ts'),
    getMigration: async (name) => (await import(pathToFileURL(path.join(folder, name)).href)) as Knex.Migration,
  };
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
