import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { urlForRole } from '@tocsin/postgres';
import { testServers } from '@tocsin/testing';
import { withClient } from '../../installation/databases.ts';
import { migrateConfig } from '../config.ts';
import { migrateAll } from '../migrate-all.ts';
import { namedDatabases } from '../named-databases.ts';

const SCHEMAS = ['catalog', 'custom_field', 'gateway', 'incident', 'webhook'];

const newName = () => `tocsin_test_${testServers().runId}_${randomBytes(4).toString('hex')}`;

/** A database that only the first migration has changed, and what that printed. */
const base = newName();
let printed: string[];
beforeAll(async () => {
  printed = await migrated({ DATABASE_URL: urlOf(base) });
});
afterAll(async () => {
  await query(urlOf('postgres'), `drop database ${base} with (force)`);
});

let name: string;
let databaseUrl: string;
beforeEach(() => {
  name = newName();
  databaseUrl = urlOf(name);
});
afterEach(async () => {
  await query(urlOf('postgres'), `drop database if exists ${name} with (force)`);
});

function urlOf(database: string): string {
  const url = new URL(testServers().databaseUrl);
  url.pathname = `/${database}`;
  return url.href;
}

const query = async (url: string, statement: string): Promise<Record<string, unknown>[]> =>
  withClient(url, async (client) => (await client.query<Record<string, unknown>>(statement)).rows);

/** Runs the migration; returns the lines that it prints. */
async function migrated(env: Record<string, string>): Promise<string[]> {
  const lines: string[] = [];
  await migrateAll(migrateConfig(env), (line) => lines.push(line));
  return lines.toSorted();
}

/** Creates the database as a copy of the migrated one. */
const copyBase = async () => query(urlOf('postgres'), `create database ${name} template ${base}`);

const ownUrls = (url: string) =>
  Object.fromEntries(
    SCHEMAS.map((schema) => [`${schema.toUpperCase()}_DATABASE_URL`, urlForRole(url, `tocsin_${schema}`)]),
  );

const UP_TO_DATE = SCHEMAS.map((schema) => `${schema}: up to date`);

test('creates the database, and a schema and a role for each app', async () => {
  expect(printed.map((line) => line.split(':')[0])).toEqual(SCHEMAS);
  expect(printed.join()).not.toContain('up to date');
  const owners = await query(
    urlOf(base),
    `select nspname as schema, pg_get_userbyid(nspowner) as owner from pg_namespace where nspname in (${SCHEMAS.map((schema) => `'${schema}'`).join()}) order by 1`,
  );
  expect(owners).toEqual(SCHEMAS.map((schema) => ({ schema, owner: `tocsin_${schema}` })));
});

describe('with DATABASE_SESSION_URL', () => {
  const sessionUrl = () => {
    const url = new URL(databaseUrl);
    url.username = '';
    return url.href;
  };
  /** A pooler that does not answer: nothing may connect to it. */
  const pooled = { DATABASE_URL: 'postgres://postgres:of-roles@127.0.0.1:1/tocsin' };

  test('connects there only, as the users of the other URLs, and gives each role its settings once', async () => {
    await copyBase();
    const env = { ...pooled, DATABASE_SESSION_URL: sessionUrl() };
    const settings = SCHEMAS.map(
      (schema) => `${schema}: the role has new settings; a pooler that runs needs new sessions (RECONNECT)`,
    );
    expect(await migrated(env)).toEqual([...UP_TO_DATE, ...settings].toSorted());
    expect(await migrated(env)).toEqual(UP_TO_DATE);
    const paths = await query(
      databaseUrl,
      `select setrole::regrole::text as role, substring(setting from '^search_path=(.*)$') as path
        from pg_db_role_setting, unnest(setconfig) as setting
        where setdatabase = (select oid from pg_database where datname = current_database())
          and setting like 'search_path=%' order by 1`,
    );
    expect(paths).toEqual(SCHEMAS.map((schema) => ({ role: `tocsin_${schema}`, path: `"${schema}"` })));
  });

  test('several migrations at the same time give the roles their settings', async () => {
    await copyBase();
    const env = { ...pooled, DATABASE_SESSION_URL: sessionUrl() };
    const runs = await Promise.all([migrated(env), migrated(env), migrated(env)]);
    for (const lines of runs) expect(lines).toEqual(expect.arrayContaining(UP_TO_DATE));
    expect(await migrated(env)).toEqual(UP_TO_DATE);
  });

  test('refuses one role for several apps', () => {
    const env = {
      ...pooled,
      DATABASE_SESSION_URL: sessionUrl(),
      INCIDENT_DATABASE_URL: 'postgres://one@127.0.0.1:1/tocsin',
    };
    expect(() => migrateConfig({ ...env, CATALOG_DATABASE_URL: env.INCIDENT_DATABASE_URL })).toThrow(
      'DATABASE_SESSION_URL: needs a role of its own for each app, but incident and catalog have the role one',
    );
  });

  test('uses the user in it for what is shared, and the URL of an app whose database is another one', () => {
    const own = 'postgres://own:secret@elsewhere:5432/own';
    const { databaseUrl: shared, targets } = migrateConfig({
      ...pooled,
      ...{ DATABASE_SESSION_URL: 'postgres://root:word@db:5432/tocsin?sslmode=require', WEBHOOK_DATABASE_URL: own },
    });
    expect(shared).toBe('postgres://root:word@db:5432/tocsin?sslmode=require');
    expect(targets.map(({ app, sessionUrl }) => [app, sessionUrl])).toEqual(
      expect.arrayContaining([
        ['catalog', 'postgres://tocsin_catalog:of-roles@db:5432/tocsin?sslmode=require'],
        ['webhook', own],
      ]),
    );
  });
});

test('changes nothing the second time', async () => {
  await copyBase();
  expect(await migrated({ DATABASE_URL: databaseUrl })).toEqual(UP_TO_DATE);
});

test('can run concurrently: one run migrates, the others find the schemas up to date', async () => {
  const runs = await Promise.all([1, 2, 3].map(async () => migrated({ DATABASE_URL: databaseUrl })));
  for (const schema of SCHEMAS) {
    const lines = runs.flat().filter((line) => line.startsWith(`${schema}: `));
    expect(lines.filter((line) => line === `${schema}: up to date`)).toHaveLength(2);
  }
});

describe('when apps have database URLs of their own', () => {
  test('migrates their databases and nothing else', async () => {
    await copyBase();
    const lines = await migrated(ownUrls(databaseUrl));
    expect(lines).toEqual(
      [
        ...UP_TO_DATE,
        'gateway, incident, catalog, custom_field, webhook: database and role are those of its own URL',
      ].toSorted(),
    );
  });

  test('creates role and schema when the database is the shared one', async () => {
    const lines = await migrated({ DATABASE_URL: databaseUrl, ...ownUrls(databaseUrl) });
    expect(lines.map((line) => line.split(':')[0])).toEqual(SCHEMAS);
  });
});

describe('a second installation on the same server', () => {
  const namespace = `t${randomBytes(4).toString('hex')}`;
  const other = `${namespace}-other`;
  const roles = (of: string) => SCHEMAS.map((schema) => `'${of}_${schema}'`).join();
  const passwords = async (of: string) =>
    query(urlOf('postgres'), `select rolname, rolpassword from pg_authid where rolname in (${roles(of)}) order by 1`);
  const ownersIn = async (url: string) =>
    query(
      url,
      `select distinct nspname as schema, pg_get_userbyid(nspowner) as owner, pg_get_userbyid(relowner) as "tableOwner"
       from pg_namespace n join pg_class c on c.relnamespace = n.oid and c.relkind = 'r'
       where nspname in (${SCHEMAS.map((schema) => `'${schema}'`).join()}) order by 1`,
    );
  const ownedBy = (of: string) =>
    SCHEMAS.map((schema) => ({ schema, owner: `${of}_${schema}`, tableOwner: `${of}_${schema}` }));
  const withPassword = (url: string, password: string) => url.replace('//postgres@', `//postgres:${password}@`);
  let otherUrl: string;
  beforeEach(() => {
    otherUrl = urlOf(`${name}_other`);
  });
  afterEach(async () => {
    await query(urlOf('postgres'), `drop database if exists ${name}_other with (force)`);
    await query(urlOf('postgres'), `drop database if exists ${name} with (force)`);
    for (const prefix of [namespace, other]) {
      for (const schema of SCHEMAS) await query(urlOf('postgres'), `drop role if exists "${prefix}_${schema}"`);
    }
  });

  test('has roles and passwords of its own', async () => {
    await migrated({ DATABASE_URL: withPassword(databaseUrl, 'one'), TOCSIN_NAMESPACE: namespace });
    const before = await passwords(namespace);
    await migrated({ DATABASE_URL: withPassword(otherUrl, 'two'), TOCSIN_NAMESPACE: other });
    expect(await passwords(namespace)).toEqual(before);
    expect(await passwords(other)).toHaveLength(SCHEMAS.length);
    expect(await ownersIn(databaseUrl)).toEqual(ownedBy(namespace));
    expect(await ownersIn(otherUrl)).toEqual(ownedBy(other));
  });

  test('with the same namespace changes no password', async () => {
    const env = { TOCSIN_NAMESPACE: namespace };
    await migrated({ ...env, DATABASE_URL: withPassword(databaseUrl, 'one') });
    const before = await passwords(namespace);
    await expect(migrated({ ...env, DATABASE_URL: withPassword(otherUrl, 'two') })).rejects.toThrow(
      `the role ${namespace}_gateway has data in another database of this server: set TOCSIN_NAMESPACE`,
    );
    expect(await passwords(namespace)).toEqual(before);
    // The first one changes its own.
    await migrated({ ...env, DATABASE_URL: withPassword(databaseUrl, 'three') });
    expect(await passwords(namespace)).not.toEqual(before);
  });

  test('that gets a namespace later keeps its data', async () => {
    await copyBase();
    expect(await ownersIn(databaseUrl)).toEqual(ownedBy('tocsin'));
    expect(await migrated({ DATABASE_URL: databaseUrl, TOCSIN_NAMESPACE: namespace })).toEqual(UP_TO_DATE);
    expect(await ownersIn(databaseUrl)).toEqual(ownedBy(namespace));
  });
});

test('needs no privileges when everything exists', async () => {
  await copyBase();
  const lines = await migrated({ DATABASE_URL: urlForRole(databaseUrl, 'tocsin_gateway'), ...ownUrls(databaseUrl) });
  expect(lines).toEqual(expect.arrayContaining(UP_TO_DATE));
  expect(lines.join()).toContain('the role of DATABASE_URL may not create databases, roles or schemas');
});

test('names the setting of an unreachable server', async () => {
  await expect(migrated({ DATABASE_URL: 'postgres://postgres@127.0.0.1:1/tocsin' })).rejects.toThrow(
    'DATABASE_URL: connect ECONNREFUSED 127.0.0.1:1',
  );
  await copyBase();
  const urls = { ...ownUrls(databaseUrl), WEBHOOK_DATABASE_URL: 'postgres://tocsin_webhook@127.0.0.1:1/tocsin' };
  await expect(migrated(urls)).rejects.toThrow(/^webhook: .*ECONNREFUSED/);
});

describe('the databases of a command', () => {
  const named = (env: Record<string, string>) => {
    const lines: string[] = [];
    return { config: namedDatabases(env, (line) => lines.push(line)), lines };
  };

  test('have no default: settings must name each one', () => {
    expect(() => named({})).toThrow(
      'DATABASE_URL: is not set, nor GATEWAY_DATABASE_URL, INCIDENT_DATABASE_URL, CATALOG_DATABASE_URL, ' +
        'CUSTOM_FIELD_DATABASE_URL, WEBHOOK_DATABASE_URL: name the database that is to be written to',
    );
    const { WEBHOOK_DATABASE_URL: _, ...others } = ownUrls('postgres://127.0.0.1/tocsin');
    expect(() => named({ ...others, WEBHOOK_DATABASE_URL: '' })).toThrow(
      'DATABASE_URL: is not set, nor WEBHOOK_DATABASE_URL:',
    );
  });

  test('are printed without passwords', () => {
    const url = 'postgres://postgres:hidden@localhost/tocsin';
    expect(named({ DATABASE_URL: url }).lines).toEqual([
      'using database tocsin on 127.0.0.1:5432, named by DATABASE_URL',
    ]);
    const own = named({ DATABASE_URL: url, WEBHOOK_DATABASE_URL: 'postgres://w:hidden@[::1]:5433/webhooks' });
    expect(own.lines).toEqual([
      'using database tocsin on 127.0.0.1:5432, named by DATABASE_URL',
      'using database webhooks on [::1]:5433, named by WEBHOOK_DATABASE_URL',
    ]);
    expect(own.config.targets.map(({ schema }) => schema).toSorted()).toEqual(SCHEMAS);
  });

  test('are printed without an unescaped password', () => {
    const { lines } = named({ DATABASE_URL: 'postgres://user:12/hidden@127.0.0.1/tocsin' });
    expect(lines.join()).not.toContain('hidden');
  });
});
