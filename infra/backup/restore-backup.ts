import { lstat, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { listMigrations } from '@tocsin/postgres';
import { type Environment, productVersion } from '@tocsin/runtime';
import { APP_NAMES, APPS } from '../installation/apps.ts';
import { type DataDir, dataDirPath, openDataDir } from '../installation/data-dir.ts';
import { databaseFolder, openEmbeddedDatabase } from '../embedded/open-database.ts';
import { removePostgres } from '../embedded/postgres.ts';
import { migrateConfig } from '../migrate/config.ts';
import { migrateAll } from '../migrate/migrate-all.ts';
import { ignoreMissing } from '../installation/missing-files.ts';
import type { Step } from '../embedded/steps.ts';
import {
  findUnfinishedRestore,
  markUnfinishedRestore,
  removeRestoreMarker,
} from '../installation/unfinished-restore.ts';
import { syncFolder } from '../installation/write-atomically.ts';
import { type BackupHeader, SECRET_FILES } from './format.ts';
import { importDatabase } from './import-database.ts';
import { type BackupContents, readBackup } from './read-backup.ts';
import { withSession } from './session.ts';

export interface RestoreOptions {
  env: Environment;
  file: string;
  /** Whether data in the folder may be replaced; they are kept in a folder beside the new ones. */
  replace: boolean;
  step: Step;
  print: (line: string) => void;
}

const CONNECTIONS = 20;

/** What makes up an instance's data; the rest of a data folder are logs, locks and files of others. */
const DATA_FILES = ['postgres', 'postgres-password', 'secret-keys', 'demo-token', 'services-demo-token'];

/**
 * Restores a backup into the data folder, which `make start` then uses.
 * @throws an error with a one-line message
 */
export async function restoreBackup({ env, file, replace, step, print }: RestoreOptions): Promise<void> {
  const contents = await step('check', async () => checkBackup(file));
  const dataDir = await openDataDir(dataDirPath(env), { unfinishedRestore: 'allowed' });
  try {
    const kept = await clearFolder(dataDir, { file, replace });
    await load(dataDir, { file, contents, step });
    await removeRestoreMarker(dataDir.path);
    await syncFolder(path.join(dataDir.path, 'postgres'));
    if (kept !== null) print(`the data from before are in ${path.join(dataDir.path, kept)}`);
    const { header } = contents;
    print(`restored the data of ${header.created_at} into ${dataDir.path}; start it with make start`);
    if (header.secret_keys === 'external' && (env['TOCSIN_SECRET_KEYS'] ?? '') === '') {
      print('the backup has no secret keys: set TOCSIN_SECRET_KEYS as it was for the first start');
    }
    const included = contents.secrets['secret-keys'];
    if (included !== undefined && ![undefined, '', included].includes(env['TOCSIN_SECRET_KEYS'])) {
      print('TOCSIN_SECRET_KEYS is set to other keys than those of the backup, and has priority: remove the setting');
    }
  } finally {
    await dataDir.close();
  }
}

/** @throws Error unless the file is complete and this release knows its migrations */
async function checkBackup(file: string): Promise<BackupContents> {
  return readBackup(file, { onHeader: checkMigrations });
}

async function checkMigrations({ schemas, product_version: version }: BackupHeader): Promise<void> {
  const unknown: string[] = [];
  for (const { name, migrations } of schemas) {
    const app = APP_NAMES.find((each) => APPS[each].schema.name === name);
    const names = new Set(app === undefined ? [] : await listMigrations(APPS[app].schema.migrations));
    const newer = migrations.filter((migration) => !names.has(migration));
    if (app === undefined || newer.length > 0) unknown.push(`${name}: ${newer.join(', ')}`);
  }
  if (unknown.length === 0) return;
  throw new Error(
    `the backup was made by Tocsin ${version} with migrations that this Tocsin ${productVersion()} does not have ` +
      `(${unknown.join('; ')}): restore it with that release or a later one`,
  );
}

/**
 * Makes room for the data. Each step can be interrupted and repeated: the marker says what the files in the folder are.
 * @returns the folder with the data from before
 */
async function clearFolder(
  { path: folder }: DataDir,
  { file, replace }: { file: string; replace: boolean },
): Promise<string | null> {
  const interrupted = await findUnfinishedRestore(folder);
  const existing = await listExisting(folder);
  if (interrupted === undefined && existing.length > 0 && !replace) {
    throw new Error(
      `${folder} has data: set TOCSIN_DATA_DIR to another folder, or restore with FORCE=1, which keeps them aside`,
    );
  }
  const kept = interrupted === undefined ? (existing.length === 0 ? null : keptName()) : interrupted.kept;
  if (interrupted?.phase !== 'loading') {
    await markUnfinishedRestore(folder, { file, kept, phase: 'keeping' });
    if (kept !== null) {
      await mkdir(path.join(folder, kept), { recursive: true, mode: 0o711 });
      for (const name of existing) await rename(path.join(folder, name), path.join(folder, kept, name));
    }
  }
  await markUnfinishedRestore(folder, { file, kept, phase: 'loading' });
  await removePostgres(databaseFolder({ path: folder }));
  for (const name of DATA_FILES) await rm(path.join(folder, name), { force: true });
  return kept;
}

const keptName = () => `before-restore-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;

async function listExisting(folder: string): Promise<string[]> {
  const stats = await Promise.all(DATA_FILES.map(async (name) => lstat(path.join(folder, name)).catch(ignoreMissing)));
  return DATA_FILES.filter((_, index) => stats[index] !== undefined);
}

async function load(
  dataDir: DataDir,
  { file, contents, step }: { file: string; contents: BackupContents; step: Step },
): Promise<void> {
  const { header, secrets } = contents;
  const postgres = await step('PostgreSQL', async () => openEmbeddedDatabase({ dataDir, maxConnections: CONNECTIONS }));
  try {
    const config = migrateConfig({ DATABASE_URL: postgres.url });
    const applied = new Map(header.schemas.map(({ name, migrations }) => [name, new Set(migrations)]));
    await step('schemas', async () => migrateAll(config, () => undefined, applied));
    await step('data', async () => withSession(postgres.url, async (client) => importDatabase(client, file)));
    await step('migrations', async () => migrateAll(config, () => undefined));
  } finally {
    await postgres.stop();
  }
  for (const name of SECRET_FILES) {
    const secret = secrets[name];
    if (secret !== undefined) await dataDir.replaceSecret(name, secret);
  }
}
