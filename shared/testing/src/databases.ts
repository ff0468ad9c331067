import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ensureDatabase, ensureSchemaOwner, migrate, urlForRole } from '@tocsin/postgres';
import pg from 'pg';
import { testServers } from './servers.ts';

/** A schema and the folder of its migrations. */
export interface TestSchema {
  schema: string;
  migrations: string;
}

export interface TestDatabase {
  /** The URL for the role that owns the schema. */
  url(schema: string): string;
  /** The URL for the server's administrator. */
  adminUrl: string;
  /** Deletes the rows of all tables; new IDs begin at 1 again. */
  clear(): Promise<void>;
  /** The database is dropped while the tests go on. */
  drop(): Promise<void>;
}

/** What a run does with the templates besides the migrations. */
interface TemplateChange {
  /** Tells the templates from those of other changes. */
  identity: string;
  /** @param url for the role that owns the schema */
  change(url: string, schema: string): Promise<void>;
}

let templateChange: TemplateChange | undefined;

/** Changes all templates that this process creates. */
export function changeTemplates(change: TemplateChange): void {
  templateChange = change;
}

const roleOf = (schema: string) => `tocsin_${schema}`;

/**
 * Creates a database for one test file, as a clone of a template with the migrated schemas, which takes milliseconds.
 * If the migrations have changed, the first call creates a new template.
 */
export async function createTestDatabase(...schemas: TestSchema[]): Promise<TestDatabase> {
  const { databaseUrl, runId } = testServers();
  const name = `tocsin_test_${runId}_${randomBytes(4).toString('hex')}`;
  await withClient(urlOf(databaseUrl, 'postgres'), async (client) => {
    const template = await ensureTemplate(client, databaseUrl, schemas);
    await client.query(`create database ${name} template ${template}`);
    for (const { schema } of schemas) await client.query(`grant connect on database ${name} to ${roleOf(schema)}`);
  });
  // No test loses the power supply of its server.
  const adminUrl = `${urlOf(databaseUrl, name)}?options=-c%20synchronous_commit%3Doff`;
  return {
    adminUrl,
    url: (schema) => urlForRole(adminUrl, roleOf(schema)),
    clear: async () => withClient(adminUrl, async (client) => clearTables(client, schemas)),
    drop: async () => {
      // With the next test at the same time, because the server writes all its files to the disk first.
      drops = drops.then(async () => dropLater(urlOf(databaseUrl, 'postgres'), name));
    },
  };
}

/** The drops of this process, one after the other. */
let drops = Promise.resolve();

/** What fails here, or has not been done when the process ends, is left to the end of the run. */
async function dropLater(maintenanceUrl: string, name: string): Promise<void> {
  await withClient(maintenanceUrl, async (client) => {
    // Its types lack the method.
    (client as pg.Client & { unref(): void }).unref();
    // Not by force: a pool is closed before the server has ended its sessions, and a session that is about to end would
    // get an error that nobody handles. The server waits five seconds for them.
    await client.query(`drop database ${name}`);
  }).catch(() => undefined);
}

/**
 * The statements of a transaction that deletes all rows of tables. TRUNCATE makes new files for each table and index, which
 * takes fifty times as long. As it does, the lock waits for transactions under way; one statement deletes everything, so
 * that references among the tables do not matter.
 */
export const emptyTables = (tables: readonly string[]): string[] => [
  `lock table ${tables.join(', ')}`,
  `with ${tables.map((table, index) => `deleted_${index} as (delete from ${table})`).join(', ')} select 1`,
];

async function clearTables(client: pg.Client, schemas: TestSchema[]): Promise<void> {
  const names = schemas.map(({ schema }) => schema);
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = any($1) and tablename <> 'migrations' order by 1`,
    [names],
  );
  const statements = emptyTables(rows.map(({ name }) => name));
  await client.query(['begin', ...statements, 'commit'].join(';'));
  await client.query(
    `select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) from pg_sequences
      where schemaname = any($1) and last_value is not null`,
    [names],
  );
}

/** Drops this run's databases, and those of crashed runs that started more than three hours ago. */
export async function dropTestDatabases(databaseUrl: string, runId: string): Promise<void> {
  const hours = 3 * 3_600_000;
  await withClient(urlOf(databaseUrl, 'postgres'), async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      `select datname from pg_database where datname like 'tocsin\\_test\\_%'`,
    );
    for (const { datname } of rows) {
      const [, , run = ''] = datname.split('_');
      if (run !== runId && Number.parseInt(run, 36) > Date.now() - hours) continue;
      await client.query(`drop database if exists ${datname} with (force)`);
    }
  });
}

async function ensureTemplate(client: pg.Client, databaseUrl: string, schemas: TestSchema[]): Promise<string> {
  const name = `tocsin_template_${digest(schemas)}`;
  // One process at a time on the whole server, because roles are shared by all databases.
  await client.query(`select pg_advisory_lock(hashtext('tocsin-test-templates'))`);
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) {
      const building = `${name}_building`;
      await client.query(`drop database if exists ${building} with (force)`);
      const adminUrl = urlOf(databaseUrl, building);
      await ensureDatabase(adminUrl);
      for (const { schema, migrations } of schemas) {
        const owner = { schema, migrations, url: urlForRole(adminUrl, roleOf(schema)) };
        await ensureSchemaOwner(adminUrl, owner);
        await migrate(owner);
        await templateChange?.change(owner.url, schema);
      }
      await client.query(`alter database ${building} rename to ${name}`);
    }
  } finally {
    await client.query(`select pg_advisory_unlock(hashtext('tocsin-test-templates'))`);
  }
  return name;
}

/** A hash of everything that determines the template: the migrations, the shared code that they call, and the change. */
function digest(schemas: TestSchema[]): string {
  const shared = path.join(import.meta.dirname, '../..');
  const hash = createHash('sha256').update(templateChange?.identity ?? '');
  for (const file of [
    'messaging/src/outbox.ts',
    'messaging/src/consumer.ts',
    'http/src/idempotency/idempotency-keys.ts',
    'postgres/src/migrate.ts',
    'postgres/src/concurrent-index.ts',
  ]) {
    hash.update(readFileSync(path.join(shared, file)));
  }
  for (const { schema, migrations } of schemas) {
    hash.update(schema);
    for (const file of readdirSync(migrations).sort())
      hash.update(file).update(readFileSync(path.join(migrations, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

function urlOf(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  // A session that ends between two statements fails the next one.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
