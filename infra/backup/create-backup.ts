import { createWriteStream, existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Environment } from '@tocsin/runtime';
import { APP_NAMES, APPS, MEMORY_BROKER } from '../installation/apps.ts';
import { dataDirPath, findRunningInstance, openDataDir } from '../installation/data-dir.ts';
import { databaseFolder, openEmbeddedDatabase } from '../embedded/open-database.ts';
import { productVersion } from '@tocsin/runtime';
import { ignoreMissing } from '../installation/missing-files.ts';
import { describeUnfinishedRestore, findUnfinishedRestore } from '../installation/unfinished-restore.ts';
import { OWNER_ONLY, syncFolder } from '../installation/write-atomically.ts';
import { exportDatabase, listSchemas } from './export-database.ts';
import { SECRET_FILES, type Secrets } from './format.ts';
import { withSession } from './session.ts';

export interface BackupOptions {
  env: Environment;
  file: string;
  /** Whether a file of this name may be replaced. */
  replace: boolean;
  /** Receives a line for each schema, and what is important about the backup. */
  print: (line: string) => void;
}

/** Connections of a server that runs for a backup alone. */
const CONNECTIONS = 10;

/**
 * Writes the data of `make start` into a file, at one moment, also while it runs.
 * @throws an error with a one-line message; the file is complete or is not there
 */
export async function createBackup({ env, file, replace, print }: BackupOptions): Promise<void> {
  if (!replace && existsSync(file)) throw new Error(`${file} exists: name another file, or replace it with FORCE=1`);
  const folder = dataDirPath(env);
  const instance = await findRunningInstance(folder);
  if (instance !== undefined) {
    const { DATABASE_URL: url, TOCSIN_BROKER: broker, TOCSIN_SECRET_KEYS: keys } = instance.env;
    if (broker !== MEMORY_BROKER || url === undefined) {
      throw new Error(
        `the instance at ${instance.baseUrl} uses a PostgreSQL of its own: back it up as docs/guides/recovery.md shows`,
      );
    }
    print(`the instance at ${instance.baseUrl} keeps running`);
    return writeBackup({ url, file, secrets: await readSecrets(folder, keys), print });
  }
  const unfinished = await findUnfinishedRestore(folder);
  if (unfinished !== undefined) throw new Error(describeUnfinishedRestore(folder, unfinished));
  if (!existsSync(databaseFolder({ path: folder })))
    throw new Error(`there is no data of make start in ${folder}: set TOCSIN_DATA_DIR`);
  const dataDir = await openDataDir(folder);
  try {
    const secrets = await readSecrets(folder, env['TOCSIN_SECRET_KEYS']);
    const postgres = await openEmbeddedDatabase({ dataDir, maxConnections: CONNECTIONS });
    try {
      await writeBackup({ url: postgres.url, file, secrets, print });
    } finally {
      await postgres.stop();
    }
  } finally {
    await dataDir.close();
  }
}

/** Keys that the environment sets are not the data folder's: whoever keeps them there keeps them. */
async function readSecrets(folder: string, usedKeys: string | undefined): Promise<Secrets> {
  const secrets: Secrets = {};
  for (const name of SECRET_FILES) {
    const text = (await readFile(path.join(folder, name), 'utf8').catch(ignoreMissing))?.trim() ?? '';
    if (text !== '') secrets[name] = text;
  }
  if (usedKeys !== undefined && usedKeys !== '' && usedKeys !== secrets['secret-keys']) delete secrets['secret-keys'];
  return secrets;
}

async function writeBackup(options: {
  url: string;
  file: string;
  secrets: Secrets;
  print: BackupOptions['print'];
}): Promise<void> {
  const { url, file, secrets, print } = options;
  const partial = `${file}.partial`;
  const rows = new Map<string, number>();
  try {
    await withSession(url, async (client) => {
      await client.query('begin isolation level repeatable read read only');
      const schemas = await listSchemas(
        client,
        APP_NAMES.map((app) => APPS[app].schema.name),
      );
      if (schemas.length === 0) throw new Error('the database has no data of Tocsin');
      const backup = exportDatabase({
        client,
        schemas,
        secrets,
        createdAt: new Date().toISOString(),
        productVersion: productVersion(),
        onTable: ({ schema }, count) => rows.set(schema, (rows.get(schema) ?? 0) + count),
      });
      await rm(partial, { force: true });
      const output = createWriteStream(partial, { flags: 'wx', mode: OWNER_ONLY, flush: true });
      await pipeline(backup, createGzip(), output);
    });
    await rename(partial, file);
    await syncFolder(file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  print([...rows].map(([schema, count]) => `${schema}: ${count} rows`).join(', '));
  print(
    secrets['secret-keys'] === undefined
      ? `wrote ${path.resolve(file)}, WITHOUT the secret keys: keep TOCSIN_SECRET_KEYS, or nobody can use the webhooks in it`
      : `wrote ${path.resolve(file)}, with the secret keys: whoever can read it can read and sign everything`,
  );
}
