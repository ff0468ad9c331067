import { changeUrl, urlsOfHosts } from '@tocsin/runtime';
import pg from 'pg';
import { roleOf } from './database-settings.ts';
import type { SchemaOwner } from './migrate.ts';
import { openMigrationSession } from './migration-connection.ts';

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

/** The URL of the database that every server has. */
export const maintenanceUrl = (url: string): string => changeUrl(url, (parsed) => (parsed.pathname = '/postgres'));

/** Creates the database of `url` unless it exists. */
export async function ensureDatabase(url: string): Promise<void> {
  const { pathname } = new URL(urlsOfHosts(url)[0]);
  const name = decodeURIComponent(pathname.slice(1));
  await withClient(maintenanceUrl(url), async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await createUnlessExists(client, `create database ${quote(name)}`);
  });
}

/**
 * Creates an owner's role and schema in the database of `adminUrl`, whose role needs the privileges for that. The
 * owner's role has privileges on its own schema only. A schema of an installation that got another namespace changes its role.
 * @throws Error when the role, whose password would change, has data in another database, and none in this one
 */
export async function ensureSchemaOwner(adminUrl: string, owner: SchemaOwner): Promise<void> {
  const { username, password, pathname } = new URL(urlsOfHosts(owner.url)[0]);
  const role = decodeURIComponent(username);
  await withClient(adminUrl, async (client) => {
    const { rows } = await client.query<RoleState>(STATE, [role, owner.schema]);
    const state = rows[0] ?? { exists: false, superuser: false, previous: null, elsewhere: false };
    if (!state.exists) await createUnlessExists(client, `create role ${quote(role)} login`);
    if (password !== '') {
      if (state.elsewhere && state.previous === null) {
        throw new Error(
          `the role ${role} has data in another database of this server: set TOCSIN_NAMESPACE to a name of this ` +
            'installation, so that its roles get names and passwords of their own',
        );
      }
      await client.query(`alter role ${quote(role)} password ${pg.escapeLiteral(decodeURIComponent(password))}`);
    }
    // Of this schema by its name, whatever the namespace.
    const previous = state.previous?.endsWith(roleOf('', owner.schema)) === true ? state.previous : role;
    // Since Postgres 16 a role that is not a superuser can transfer a schema only to a role that it is a member of.
    for (const member of state.superuser ? [] : new Set([role, previous])) {
      await client.query(`grant ${quote(member)} to current_user`);
    }
    await client.query(`grant connect on database ${quote(decodeURIComponent(pathname.slice(1)))} to ${quote(role)}`);
    await createUnlessExists(client, `create schema ${quote(owner.schema)}`);
    await client.query(`alter schema ${quote(owner.schema)} owner to ${quote(role)}`);
    // Its objects in this database.
    if (previous !== role) await client.query(`reassign owned by ${quote(previous)} to ${quote(role)}`);
  });
}

interface RoleState {
  exists: boolean;
  /** Whether the role that asks is one. */
  superuser: boolean;
  /** The present owner of the schema. */
  previous: string | null;
  /** Whether the role owns something in another database. */
  elsewhere: boolean;
}

const STATE = `
  select exists (select from pg_roles where rolname = $1) as exists,
    (select rolsuper from pg_roles where rolname = current_user) as superuser,
    (select pg_get_userbyid(nspowner)::text from pg_namespace where nspname = $2) as previous,
    exists (
      select from pg_shdepend d join pg_roles r on r.oid = d.refobjid
      where r.rolname = $1 and d.refclassid = 'pg_authid'::regclass and d.deptype = 'o'
        and d.dbid not in (0, (select oid from pg_database where datname = current_database()))
    ) as elsewhere`;

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = await openMigrationSession(url);
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
