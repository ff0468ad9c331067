import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listMigrations } from '@tocsin/postgres';
import { testServers } from '@tocsin/testing';
import { exportDatabase } from '../export-database.ts';
import { importDatabase } from '../import-database.ts';
import { readBackup } from '../read-backup.ts';
import { withSession } from '../session.ts';
import { APP_NAMES, APPS } from '../../installation/apps.ts';
import { type MigrateConfig, migrateConfig } from '../../migrate/config.ts';
import { migrateAll } from '../../migrate/migrate-all.ts';

const SCHEMAS = APP_NAMES.map((app) => APPS[app].schema);
/** The migrations of each schema that the earlier release had. */
const only = new Map<string, Set<string>>();
let folder: string;
let file: string;
const urls: string[] = [];

/** The URL of a database that does not exist yet. */
function newDatabase(): string {
  const { databaseUrl, runId } = testServers();
  const url = new URL(databaseUrl);
  url.pathname = `/tocsin_test_${runId}_backup${urls.length}`;
  urls.push(url.href);
  return url.href;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-older-backup-'));
  file = path.join(folder, 'older.backup');
  for (const { name, migrations } of SCHEMAS) {
    const names = await listMigrations(migrations);
    only.set(name, new Set(names));
    await mkdir(migrationsOf(name));
    for (const each of names) {
      await symlink(path.join(migrations, `${each}.ts`), path.join(migrationsOf(name), `${each}.ts`));
    }
    await writeFile(path.join(migrationsOf(name), '29990101000000_later.ts'), LATER);
  }
});
afterAll(async () => {
  await withSession(testServers().databaseUrl, async (client) => {
    for (const url of urls)
      await client.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
  });
  await rm(folder, { recursive: true });
});

/** What a later release does in each schema. */
const LATER = `export const up = async (knex) => {
  await knex.schema.createTable('later', (table) => void table.text('note'));
  if (await knex.schema.hasTable('api_keys'))
    await knex.schema.alterTable('api_keys', (table) => void table.text('note').notNullable().defaultTo('none'));
};`;
const migrationsOf = (schema: string) => path.join(folder, schema);

/** The settings with which the later release migrates. */
function laterConfig(url: string): MigrateConfig {
  const config = migrateConfig({ DATABASE_URL: url });
  const targets = config.targets.map((target) => ({ ...target, migrations: migrationsOf(target.schema) }));
  return { ...config, targets };
}

const VALUES = ['tab\tand \\ and \\N', '', 'new\nline\r', '\u{1f525} "quoted"'];

async function writeBackup(url: string): Promise<void> {
  await withSession(url, async (client) => {
    await client.query('begin isolation level repeatable read read only');
    const schemas = SCHEMAS.map(({ name }) => name);
    const secrets = { 'secret-keys': 'k1:AAAA' };
    const backup = exportDatabase({
      client,
      schemas,
      secrets,
      createdAt: 'now',
      productVersion: '0',
      onTable: () => undefined,
    });
    await pipeline(backup, createGzip(), createWriteStream(file));
  });
}

const readNames = async (url: string) =>
  withSession(url, async (client) => {
    const { rows } = await client.query('select id, name, token_digest from gateway.api_keys order by id');
    return rows;
  });

test('a backup of an earlier release is loaded with its migrations, and then migrated', async () => {
  const source = newDatabase();
  await migrateAll(laterConfig(source), () => undefined, only);
  await withSession(source, async (client) => {
    await client.query(`insert into gateway.workspaces (slug, name) values ('acme', 'Acme')`);
    await client.query(
      `insert into gateway.users (workspace_id, email, name, seat, role, version) values (1, 'a@b.example', 'A', 'none', 'owner', 1)`,
    );
    for (const [index, name] of VALUES.entries()) {
      await client.query(
        `insert into gateway.api_keys (workspace_id, user_id, name, token_digest, token_shown, scopes)
         values (1, 1, $1, $2, 'x', $3)`,
        [name, Buffer.from([index, 0, 92, 255]), VALUES],
      );
    }
  });
  await writeBackup(source);
  const { header, tables, secrets } = await readBackup(file);
  expect(new Map(header.schemas.map(({ name, migrations }) => [name, new Set(migrations)]))).toEqual(only);
  expect(tables.find(({ table }) => table.name === 'api_keys')?.end.rows).toBe(VALUES.length);
  expect(secrets).toEqual({ 'secret-keys': 'k1:AAAA' });

  const target = newDatabase();
  const config = laterConfig(target);
  await migrateAll(config, () => undefined, only);
  await withSession(target, async (client) => importDatabase(client, file));
  await migrateAll(config, () => undefined);
  expect(await readNames(target)).toEqual(await readNames(source));
  expect((await readNames(target)).map(({ name }) => name)).toEqual(VALUES);
  await withSession(target, async (client) => {
    const { rows } = await client.query(
      `insert into gateway.api_keys (workspace_id, user_id, name, token_digest, token_shown, scopes)
       values (1, 1, 'next', 'x', 'x', '{}') returning id, note`,
    );
    expect(rows).toEqual([{ id: String(VALUES.length + 1), note: 'none' }]);
  });
});

test('a backup that does not fit the schemas changes nothing', async () => {
  const target = newDatabase();
  await migrateAll(laterConfig(target), () => undefined);
  await withSession(target, async (client) => {
    await client.query(`insert into gateway.workspaces (slug, name) values ('kept', 'Kept')`);
    await expect(importDatabase(client, file)).rejects.toThrow(
      /^the table \w+\.\w+ of the backup is not the one that its migrations make$/,
    );
  });
  await withSession(target, async (client) => {
    const { rows } = await client.query('select slug from gateway.workspaces');
    expect(rows).toEqual([{ slug: 'kept' }]);
  });
});
