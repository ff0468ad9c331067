import pg from 'pg';
import type { SchemaOwner } from './migrate.ts';
import { MIGRATION_CONNECTION } from './migration-connection.ts';

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

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, ...MIGRATION_CONNECTION });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
